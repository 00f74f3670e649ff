// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel keeps of a node: its tree of localities, with distance in it, its objects, latencies and bandwidths
/// between them, and the order that these give to what is equally many steps away. Knows nothing of hwloc.

#include <keel/topology/objects.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace keel::topology::detail {

/// One number for each pair of a core and a memory; 0 is unknown. Cores with equal numbers share a row.
class numbers_to_memories {
public:
  numbers_to_memories() = default;
  explicit numbers_to_memories(std::size_t memories) : memories_(memories) {}

  /// The numbers of the next core.
  void add(std::vector<std::uint64_t> const& row) {
    auto const rows = memories_ == 0 ? 0 : values_.size() / memories_;
    std::size_t same = 0;
    while (same < rows && !std::equal(row.begin(), row.end(), values_.begin() + std::ptrdiff_t(same * memories_)))
      ++same;
    if (same == rows) values_.insert(values_.end(), row.begin(), row.end());
    row_of_core_.push_back(same);
  }
  [[nodiscard]] std::uint64_t at(int core, int memory) const noexcept {
    return row_of_core_.empty() ? 0 : values_[row_of_core_[std::size_t(core)] * memories_ + std::size_t(memory)];
  }
  [[nodiscard]] bool any() const { return std::any_of(values_.begin(), values_.end(), known); }
  [[nodiscard]] bool all() const { return !values_.empty() && std::all_of(values_.begin(), values_.end(), known); }

private:
  static bool known(std::uint64_t value) { return value != 0; }

  std::size_t memories_ = 0;
  std::vector<std::size_t> row_of_core_;
  std::vector<std::uint64_t> values_;
};

/// What the system reports of the ways from cores to memories. Empty tables if it reports nothing.
struct memory_ways {
  latency_unit unit = latency_unit::unknown;
  numbers_to_memories latencies, bandwidths;
};

/// Distances that count steps, and one more for every further latency that some core sees at the same number of steps.
///
/// The table is the machine's, so equal pairs of steps and latency have equal distances from every core. If each
/// number of steps has one latency, and if none is known, a distance is the number of steps.
class refined_distances {
public:
  refined_distances() = default;
  /// `steps(core, memory)` counts the steps.
  refined_distances(int cores, int memories, numbers_to_memories const& latencies, auto const& steps) {
    if (!latencies.any()) return;
    for (int c = 0; c < cores; ++c)
      for (int m = 0; m < memories; ++m) {
        auto const seen = std::pair{steps(c, m), latency_of(latencies, c, m)};
        if (auto const at = std::lower_bound(pairs_.begin(), pairs_.end(), seen); at == pairs_.end() || *at != seen)
          pairs_.insert(at, seen);
      }
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      bool const is_further = p > 0 && pairs_[p].first == pairs_[p - 1].first;
      int const steps_on = p == 0 ? pairs_[p].first : is_further ? 1 : pairs_[p].first - pairs_[p - 1].first;
      distances_.push_back((p == 0 ? 0 : distances_.back()) + steps_on);
    }
  }
  [[nodiscard]] int of(int steps, int core, int memory, numbers_to_memories const& latencies) const {
    if (pairs_.empty()) return steps;
    auto const at =
        std::lower_bound(pairs_.begin(), pairs_.end(), std::pair{steps, latency_of(latencies, core, memory)});
    return distances_[std::size_t(at - pairs_.begin())];
  }

private:
  static std::uint64_t latency_of(numbers_to_memories const& latencies, int core, int memory) {
    auto const value = latencies.at(core, memory);
    return value == 0 ? std::numeric_limits<std::uint64_t>::max() : value; // the unknown comes last
  }

  std::vector<std::pair<int, std::uint64_t>> pairs_;
  std::vector<int> distances_;
};

/// The speed of each memory beside the first, in per cent, by the shortest latency from any core; 100 if that is
/// unknown.
inline std::vector<int> speeds_by_latency(numbers_to_memories const& latencies, int cores, int memories) {
  std::vector<std::uint64_t> nearest(std::size_t(memories), 0);
  for (int m = 0; m < memories; ++m)
    for (int c = 0; c < cores; ++c)
      if (auto const latency = latencies.at(c, m);
          latency > 0 && (nearest[std::size_t(m)] == 0 || latency < nearest[std::size_t(m)]))
        nearest[std::size_t(m)] = latency;
  std::vector<int> speeds(std::size_t(memories), 100);
  for (std::size_t m = 0; m < nearest.size(); ++m)
    if (nearest[m] > 0 && nearest[0] > 0)
      speeds[m] = int(std::min(100 * double(nearest[0]) / double(nearest[m]) + 0.5, 1e9));
  return speeds;
}

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
