// SPDX-License-Identifier: MIT
// expect: keel::device: a member of the policy looks like tracking
// expect: Did you mean tracking?
#include <keel/device.hpp>

struct app : keel::defaults {
  using tracing = keel::residency::traced;
};

int main() { keel::start<app> before; }
