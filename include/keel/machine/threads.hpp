// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Threads inside a rank: how many there really are, which one leads, on which core each runs.

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::machine {

/// The source of the number of threads that a parallel region of this rank gets. `count` is the number
/// at work, not the one wished for: OpenMP's `omp_get_num_threads()` outside a region is
/// 1 whatever runs inside.
///
/// Models: `no_threads`, of one thread; `openmp_threads`, if the program is compiled for OpenMP;
/// `device_threads<Tag>`, of a device that has threads, and so Kokkos' number.
template <class S>
concept ThreadSource = requires {
  { S::name } -> std::convertible_to<std::string_view>;
  { S::count() } -> std::same_as<int>;
};

/// A rank that is one thread.
struct no_threads {
  static constexpr std::string_view name = "none";
  static constexpr int count() noexcept { return 1; }
};

#ifdef _OPENMP
/// The threads of an OpenMP region, counted in one. Starts the region's threads at the first call.
struct openmp_threads {
  static constexpr std::string_view name = "openmp";
  static int count() {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    return threads;
  }
};
#endif

/// The threads that run a device's kernels, as `keel::device_traits` has them.
template <policy::DeviceTag Tag>
  requires(device_traits<Tag>::has_threads)
struct device_threads {
  static constexpr std::string_view name = Tag::name;
  static int count() { return device_traits<Tag>::threads(); }
};

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
[[nodiscard]] std::vector<team> teams(int threads, int count);

/// The core of each of `threads` threads over the cores of the rank's place: neighbours stay
/// neighbours, every core gets as many as the next, or one less. Empty if there is no core.
[[nodiscard]] std::vector<int> thread_layout(int threads, std::span<int const> cores);

inline std::vector<team> teams(int threads, int count) {
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

inline std::vector<int> thread_layout(int threads, std::span<int const> cores) {
  std::vector<int> core_of;
  if (cores.empty()) return core_of;
  for (int t = 0; t < threads; ++t) core_of.push_back(cores[std::size_t(t) * cores.size() / std::size_t(threads)]);
  return core_of;
}

} // namespace keel::machine
