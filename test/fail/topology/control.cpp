// SPDX-License-Identifier: MIT
#include <keel/topology.hpp>

int main() {
  auto const node = keel::topology::node::from_synthetic("core:2 pu:1");
  keel::topology::binding const* none = nullptr;
  return int(node.nearby_memories(0, keel::topology::memory_type::dram).size()) + (none != nullptr);
}
