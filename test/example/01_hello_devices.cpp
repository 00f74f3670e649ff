// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

/// The devices that this program was written for. `where_supported` leaves out those that this build of Kokkos
/// lacks, so the same source compiles everywhere. What is left out has no code in the program.
struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::cuda, keel::simulated>>;
  static constexpr std::string_view prefix = "app"; // --app-device, APP_DEVICE
};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv}; // starts MPI, reads the knobs; Kokkos starts at the first use of a device
  if (run.help_requested()) return 0;
  if (!run.environment().is_master()) return 0;

  std::cout << keel::policy::counted(run.environment().size(), "rank") << " on " << run.device_name() << '\n';

  // Two questions: `supported` is a constant of the build, `available` asks the machine that runs the program.
  keel::for_each_device<keel::list<keel::serial, keel::cuda, keel::simulated>>([]<class Tag>(Tag) {
    std::cout << Tag::name << ": "
              << (!keel::supported<Tag>    ? "not in this build"
                  : keel::available<Tag>() ? "ready"
                                           : "not here")
              << '\n';
  });

  // A device by the name that a user gave. The function is compiled for each device of the list and called for one.
  bool const found = keel::with_device<app::devices>("simulated", [&]<class Tag>(Tag) {
    std::cout << "kernels of " << Tag::name << " run in " << typeid(run.template execution_space<Tag>()).name() << '\n';
  });
  if (!found) std::cout << "there is no simulated device\n";
} catch (std::exception const& e) {
  return keel::report(e);
}
