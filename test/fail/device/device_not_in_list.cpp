// SPDX-License-Identifier: MIT
// expect: keel::runtime: this device is not in the policy's list
#include <keel/device.hpp>

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp>>;
};

int main(int argc, char** argv) {
  keel::runtime<app> run{argc, argv};
  run.configuration<keel::simulated>().set_threads(1);
}
