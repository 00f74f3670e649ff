// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel keeps of a node. Knows nothing of hwloc.

#include <keel/impl/topology/latencies.hpp>
#include <keel/impl/topology/localities.hpp>
#include <keel/topology/objects.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace keel::topology::detail {

/// All that keel keeps of a node; hwloc's own tree can go once this is made.
struct inventory {
  std::vector<memory> memories;
  std::vector<core> cores;
  std::vector<device> devices;
  std::vector<int> memory_places, core_places, device_places; ///< the locality of each
  std::vector<std::array<int, 4>> caches;                     ///< of each core, by `cache`; -1 is none
  localities tree;
  memory_ways ways;
  reach cores_around; ///< this and the distances follow from the rest
  refined_distances memory_distances;
  id_set withheld_threads, withheld_memories; ///< the system's numbers of what may not be used
  std::string source;
  bool here = false;

  [[nodiscard]] int steps_to_memory(int core, int memory) const {
    return tree.distance(core_places[std::size_t(core)], memory_places[std::size_t(memory)]);
  }
  [[nodiscard]] int distance_to_memory(int core, int memory) const {
    return memory_distances.of(steps_to_memory(core, memory), core, memory, ways.latencies);
  }
  void make_tables(); ///< once all else is there
};

} // namespace keel::topology::detail
