// expect: use of deleted function
// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

int main() {
  keel::machine::environment world;
  keel::machine::environment twin = world;
}
