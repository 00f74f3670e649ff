// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

namespace km = keel::machine;

#if defined(ENVIRONMENT_COPIED)
// expect: use of deleted function
int main() {
  keel::machine::environment world;
  keel::machine::environment twin = world;
}
#elif defined(MASTER_OR_STRIDE)
// expect: deleted
int main() {
  keel::machine::environment world;
  keel::machine::environment four{world, 4, 2};
}
#elif defined(POINTER_SENT)
// expect: Sendable
int main() {
  keel::machine::environment world;
  int* there = nullptr;
  keel::machine::broadcast(world, there, 0);
}
#elif defined(RANKS_INCOMPLETE)
// expect: Ranks
struct pigeons {
  using handle = int;
  struct communicator {};
};
void use(keel::machine::basic_environment<pigeons>& world);
#else
int main() {
  km::environment world;
  km::environment four{world, km::strided{4, 0, 2}, km::master{2}};
  km::environment moved = std::move(four);
  int value = 0;
  km::broadcast(world, value, 0);
  (void)km::basic_environment<km::alone>{}.split(0);
  auto const all = km::all_gather(world, value);
}
#endif
