// SPDX-License-Identifier: MIT
// expect: configuration(const
#include <keel/device.hpp>

struct app : keel::defaults {
  using devices = keel::list<keel::simulated>;
};

int main(int argc, char** argv) {
  keel::runtime<app> run{argc, argv};
  auto copy = run.configuration<keel::simulated>();
}
