// SPDX-License-Identifier: MIT
#include <keel/policy/error.hpp>
#include <keel/topology.hpp>
#include <iostream>

namespace kt = keel::topology;

int main() {
  // A machine by description; `here()` is the one that runs the program, `from_xml(path)` one that lstopo has saved.
  auto const node = kt::node::from_synthetic("package:2 numa:1 core:4 pu:2");
  std::cout << node.cores().size() << " cores, " << node.memories().size() << " memories\n";

  // Distance 0 is the core's own place, each further step a larger part of the machine.
  std::cout << "near core 5: memories " << to_string(node.nearby_memories(5, kt::memory_type::any, 0, 1)) << ", cores "
            << to_string(node.nearby_cores(5, kt::core_type::any, 0, 1)) << '\n';

  // Four ranks on this node; each gets cores, a memory and, where there are some, a device.
  for (kt::placement const& rank : node.place(4))
    std::cout << "cores " << to_string(rank.cores) << ", memory " << rank.memory << '\n';
  for (kt::placement const& rank : node.place(2, {.order = kt::order::compact, .threads_per_core = 1}))
    std::cout << "hardware threads " << to_string(rank.hardware_threads) << '\n';

  try {
    (void)node.distance_to_core(0, 99);
  } catch (keel::error const& e) {
    std::cout << e.what() << '\n';
  }
}
