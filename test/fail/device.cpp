// SPDX-License-Identifier: MIT
#include <keel/device.hpp>

#if defined(BAD_PREFIX)
// expect: keel::device: the prefix is not made of lower case letters
struct app : keel::defaults {
  static constexpr std::string_view prefix = "My App";
};
int main() { keel::start<app> before; }
#elif defined(CONFIGURATION_COPIED)
// expect: configuration(const
struct app : keel::defaults {
  using devices = keel::list<keel::simulated>;
};
int main(int argc, char** argv) {
  keel::runtime<app> run{argc, argv};
  auto copy = run.configuration<keel::simulated>();
}
#elif defined(DEFAULT_EXECUTION_IS_MEMORY)
// expect: keel::defaults: a default for execution is no execution space
struct app : keel::defaults {
  using default_execution_space = Kokkos::HostSpace;
};
int main() { keel::start<app> before; }
#elif defined(DEFAULT_MEMORY_OUT_OF_REACH)
// expect: keel::defaults: default_execution_space cannot reach default_memory_space
struct app : keel::defaults {
  using default_execution_space = Kokkos::DefaultHostExecutionSpace;
  using default_memory_space = keel::space::simulated_memory;
};
int main() { keel::start<app> before; }
#elif defined(DEVICE_NOT_IN_BUILD)
// expect: a device of the policy's list is not in this build
// expect: sycl
struct app : keel::defaults {
  using devices = keel::list<keel::simulated, keel::sycl>;
};
int main(int argc, char** argv) { keel::runtime<app> run{argc, argv}; }
#elif defined(DEVICE_NOT_IN_LIST)
// expect: keel::runtime: this device is not in the policy's list
struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp>>;
};
int main(int argc, char** argv) {
  keel::runtime<app> run{argc, argv};
  run.configuration<keel::simulated>().set_threads(1);
}
#elif defined(NOT_A_POLICY)
// expect: keel::device: this is not an application policy
struct app {
  using devices = keel::list<keel::simulated>;
};
int main() { keel::runtime<app> run; }
#else
struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated, keel::sycl>>;
};
int main(int argc, char** argv) {
  keel::start<app> before;
  keel::runtime<app> run{argc, argv, before};
  run.configuration<keel::simulated>().set_threads(1);
  run.configuration<keel::sycl>().set_device_instance(0);
}
#endif
