// SPDX-License-Identifier: MIT
// expect: keel::device: the prefix is not made of lower case letters
#include <keel/device.hpp>

struct app : keel::defaults {
  static constexpr std::string_view prefix = "My App";
};

int main() { keel::start<app> before; }
