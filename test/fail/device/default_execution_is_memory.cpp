// SPDX-License-Identifier: MIT
// expect: keel::defaults: a default for execution is no execution space
#include <keel/device.hpp>

struct app : keel::defaults {
  using default_execution_space = Kokkos::HostSpace;
};

int main() { keel::start<app> before; }
