// SPDX-License-Identifier: MIT
// expect: TypeList
#include <keel/policy.hpp>

int main() {
  keel::for_each_device<keel::serial>([](auto) {});
}
