// SPDX-License-Identifier: MIT
// expect: keel::device: a member of the policy looks like devices
// expect: Did you mean devices?
#include <keel/device.hpp>

struct app : keel::defaults {
  using device = keel::list<keel::simulated>;
};

int main() { keel::start<app> before; }
