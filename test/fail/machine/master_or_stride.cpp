// expect: deleted
// SPDX-License-Identifier: MIT
// errors: 1
#include <keel/machine.hpp>

int main() {
  keel::machine::environment world;
  keel::machine::environment four{world, 4, 2};
}
