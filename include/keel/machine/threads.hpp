// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Threads inside a rank: which one leads, on which core each runs.

#include <keel/policy/error.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace keel::machine {

/// Consecutive threads of a rank that work on one task, led by the first.
struct team {
  int master;
  int size;

  [[nodiscard]] constexpr bool contains(int thread) const noexcept {
    return thread >= master && thread < master + size;
  }
  friend constexpr bool operator==(team const&, team const&) = default;
};

/// `threads` threads in `count` teams, sizes differing by one at most, for tasks side by side inside a rank.
/// Throws `keel::error` unless each team gets a thread.
[[nodiscard]] inline std::vector<team> teams(int threads, int count) {
  if (count < 1 || threads < count)
    throw error("machine::teams",
                policy::counted(threads, "thread does", "threads do") + " not make " + policy::counted(count, "team"),
                "each has a master of its own", "Ask for one team at least, and at most one a thread");
  std::vector<team> made;
  for (int i = 0; i != count; ++i) {
    int const begin = int(static_cast<long long>(threads) * i / count);
    made.push_back({begin, int(static_cast<long long>(threads) * (i + 1) / count) - begin});
  }
  return made;
}

/// The core of each of `threads` threads over the cores of the rank's place: neighbours stay
/// neighbours, every core gets as many as the next, or one less. Empty if there is no core.
[[nodiscard]] inline std::vector<int> thread_layout(int threads, std::span<int const> cores) {
  std::vector<int> core_of;
  if (cores.empty()) return core_of;
  for (int t = 0; t < threads; ++t) core_of.push_back(cores[std::size_t(t) * cores.size() / std::size_t(threads)]);
  return core_of;
}

} // namespace keel::machine
