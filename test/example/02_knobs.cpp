// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::simulated>>;
  static constexpr std::string_view prefix = "app"; // options begin with --app-, variables with APP_
};

int main(int argc, char** argv) try {
  // The weakest source: what the code says before the start.
  keel::start<app> before;
  before.set_device("simulated");
  before.set_log_level(keel::device::log_level::error);
  if (before.set_num_devices(0) == keel::device::outcome::invalid_value) std::cout << "no program runs on 0 devices\n";

  // The environment is stronger, and the command line is stronger still. keel takes its own options out of argv.
  keel::runtime<app> run{argc, argv, before};
  if (run.help_requested()) return 0;

  // Every knob says who set it.
  for (keel::device::printed_knob const& knob : run.knobs())
    if (knob.option == "--app-device" || knob.option == "--app-num-devices")
      std::cout << knob.option << " is " << knob.value << ", from: " << keel::device::name(knob.from) << '\n';

  // What keel does not know is the application's.
  for (int i = 1; i < argc; ++i) std::cout << "left for the application: " << argv[i] << '\n';

  // The strongest source is code after the start, as long as no device runs.
  if constexpr (keel::supported<keel::tbb>) {
    auto& tbb = run.configuration<keel::tbb>();
    bool const is_set = tbb.set_threads(1) == keel::device::outcome::success;
    if (!is_set || tbb.source(keel::device::knob::threads) != keel::device::source::code)
      std::cout << "one thread of oneTBB could not be set\n";
  }
} catch (std::exception const& e) {
  return keel::report(e);
}
