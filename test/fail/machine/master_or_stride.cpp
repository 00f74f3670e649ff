// expect: deleted
// errors: 1
// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

int main() {
  keel::machine::environment world;
  keel::machine::environment four{world, 4, 2};
}
