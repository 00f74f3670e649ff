// SPDX-License-Identifier: MIT
// expect: core_type
#include <keel/topology.hpp>

int main() {
  auto const node = keel::topology::node::from_synthetic("core:2 pu:1");
  return int(node.nearby_cores(0, keel::topology::memory_type::dram).size());
}
