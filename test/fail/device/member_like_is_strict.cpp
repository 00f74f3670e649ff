// SPDX-License-Identifier: MIT
// expect: keel::device: a member of the policy looks like is_strict
// expect: Did you mean is_strict?
#include <keel/device.hpp>

struct app : keel::defaults {
  static constexpr bool strict = true;
};

int main() { keel::start<app> before; }
