// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel keeps of a node: its tree of localities, with distance in it, and its objects. Knows nothing of hwloc.

#include <keel/impl/topology/latencies.hpp>
#include <keel/topology/objects.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace keel::topology::detail {

/// Places of a node as a tree in preorder.
///
/// Two numbers describe a subtree: its own index and `end`, the first index after it.
/// Cores are numbered along the same walk, so those inside a locality are a range too.
/// Each place has the level of its kind, the same on the whole machine: 0 for a core's own place,
/// and more for every kind of place around it. So distances can be compared between cores, also
/// if a branch of the tree lacks a level, or has one that is equal to the next only there.
class localities {
public:
  struct locality {
    int parent;     ///< of the root: 0, itself
    int end;        ///< localities inside: [own index, end)
    int first_core; ///< cores inside: [first_core, end_core)
    int end_core;
    int level; ///< of its kind; less than its parent's
  };

  [[nodiscard]] bool inside(int inner, int outer) const noexcept {
    return outer <= inner && inner < at_[std::size_t(outer)].end;
  }

  /// The place of a memory that is near no core, as far as the system says; a step beyond the whole machine.
  static constexpr int nowhere = -1;

  /// Steps up from a core's place until `to` is inside.
  [[nodiscard]] int distance(int from, int to) const noexcept {
    if (to == nowhere) return at_[0].level + 1;
    while (!inside(to, from)) from = at_[std::size_t(from)].parent;
    return at_[std::size_t(from)].level;
  }
  [[nodiscard]] locality const& operator[](int index) const noexcept { return at_[std::size_t(index)]; }
  [[nodiscard]] int size() const noexcept { return int(at_.size()); }

  /// Building, in preorder: `begin`, what is inside, `end`.
  int begin(int parent, int first_core, int level) {
    at_.push_back({parent, 0, first_core, first_core, level});
    return size() - 1;
  }
  void end(int index, int end_core) noexcept {
    at_[std::size_t(index)].end = size();
    at_[std::size_t(index)].end_core = end_core;
  }

private:
  std::vector<locality> at_;
};

/// Ids of cores, `[first, end)`.
struct core_range {
  int first, end;
};

/// All that keel keeps of a node; hwloc's own tree can go once this is made.
struct inventory {
  std::vector<memory> memories;
  std::vector<core> cores;
  std::vector<device> devices;
  std::vector<int> memory_places, core_places, device_places; ///< the locality of each
  std::vector<std::array<int, 4>> caches;                     ///< of each core, by `cache`; -1 is none
  localities tree;
  memory_ways ways;
  refined_distances memory_distances;         ///< they follow from the rest
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
