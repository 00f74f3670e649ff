// SPDX-License-Identifier: MIT
// expect: keel::defaults: default_execution_space cannot reach default_memory_space
#include <keel/device.hpp>

struct app : keel::defaults {
  using default_execution_space = Kokkos::DefaultHostExecutionSpace;
  using default_memory_space = keel::space::simulated_memory;
};

int main() { keel::start<app> before; }
