// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

namespace km = keel::machine;

int main() {
  km::environment world;
  km::environment four{world, km::strided{4, 0, 2}, km::master{2}};
  km::environment moved = std::move(four);
  int value = 0;
  km::broadcast(world, value, 0);
  (void)km::basic_environment<km::alone>{}.split(0);
  auto const all = km::all_gather(world, value);
}
