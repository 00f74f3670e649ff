// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>
struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::cuda, keel::simulated>>;
  static constexpr std::string_view prefix = "app"; // --app-num-threads, APP_NUM_THREADS
};
int main(int argc, char** argv) try {
  keel::start<app> before;
  before.set_threads<keel::tbb>(2); // weaker than the environment and the command line
  keel::runtime<app> run{argc, argv, before};
  if (run.help_requested()) return 0;
  if (run.environment().is_master())
    std::cout << keel::policy::counted(run.environment().size(), "rank") << " on " << run.device_name() << '\n';
} catch (std::exception const& e) {
  return keel::report(e);
}
