// SPDX-License-Identifier: MIT
#include <keel/topology.hpp>

#if defined(BINDING_COPIED)
// expect: deleted
void twice(keel::topology::binding const& once) {
  keel::topology::binding again{once}; // what would undo it?
}
#elif defined(KIND_OF_ANOTHER)
// expect: core_type
int main() {
  auto const node = keel::topology::node::from_synthetic("core:2 pu:1");
  return int(node.nearby_cores(0, keel::topology::memory_type::dram).size());
}
#elif defined(NODE_OF_NOTHING)
// expect: no matching
int main() {
  keel::topology::node nothing;
  return int(nothing.cores().size());
}
#else
int main() {
  auto const node = keel::topology::node::from_synthetic("core:2 pu:1");
  keel::topology::binding const* none = nullptr;
  return int(node.nearby_memories(0, keel::topology::memory_type::dram).size()) + (none != nullptr);
}
#endif
