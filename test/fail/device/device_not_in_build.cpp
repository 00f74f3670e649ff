// SPDX-License-Identifier: MIT
// expect: a device of the policy's list is not in this build
// expect: sycl
#include <keel/device.hpp>

struct app : keel::defaults {
  using devices = keel::list<keel::simulated, keel::sycl>;
};

int main(int argc, char** argv) { keel::runtime<app> run{argc, argv}; }
