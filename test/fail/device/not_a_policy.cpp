// SPDX-License-Identifier: MIT
// expect: keel::device: this is not an application policy
#include <keel/device.hpp>

struct app {
  using devices = keel::list<keel::simulated>;
};

int main() { keel::runtime<app> run; }
