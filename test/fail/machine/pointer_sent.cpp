// expect: Sendable
// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

int main() {
  keel::machine::environment world;
  int* there = nullptr;
  keel::machine::broadcast(world, there, 0);
}
