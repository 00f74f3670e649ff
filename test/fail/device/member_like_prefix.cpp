// SPDX-License-Identifier: MIT
// expect: keel::device: a member of the policy looks like prefix
// expect: Did you mean prefix?
#include <keel/device.hpp>

struct app : keel::defaults {
  static constexpr std::string_view prefx = "app";
};

int main() { keel::start<app> before; }
