// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Latencies and bandwidths between cores and memories, and the order that they give to what is equally many steps
/// away. Depends only on the standard library.

#include <keel/topology/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

} // namespace keel::topology::detail
