// SPDX-License-Identifier: MIT
// expect: DeviceTag
#include <keel/policy.hpp>

int main() {
  keel::for_each_device<keel::list<int>>([](auto) {});
}
