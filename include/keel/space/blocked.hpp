// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The places of Kokkos for the loops of `keel::block`: execution spaces, and teams of threads.

#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace keel::space::detail {

/// Kokkos calls it with a signed index.
template <class F>
struct blocked_for {
  F f;
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(std::int64_t i) const { f(std::size_t(i)); }
};
template <class F>
struct blocked_rows {
  F f;
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(int i, int row) const { f(std::size_t(i), std::size_t(row)); }
};

/// The threads of a team of which each has so many bytes: whole warps that fill 32 KiB, so that an H200 holds six or
/// seven teams at once; 0 if one warp is too much.
constexpr int team_width(std::size_t bytes_of_each) {
  for (int threads : {256, 128, 64, 32})
    if (bytes_of_each <= std::size_t(32768 / threads)) return threads;
  return 0;
}

template <class Space, class T, class F>
struct blocked_with_memory {
  F f;
  std::size_t count, values; // of each thread
  KEEL_FUNCTION void operator()(typename Kokkos::TeamPolicy<Space>::member_type const& team) const {
    auto const threads = std::size_t(team.team_size()), own = std::size_t(team.team_rank());
    std::size_t const i = std::size_t(team.league_rank()) * threads + own;
    auto* const all = static_cast<T*>(team.team_shmem().get_shmem_aligned(values * threads * sizeof(T), alignof(T)));
    keel::block::team_memory<T> memory{all + own, threads};
    if (i < count) f(i, memory);
  }
};

/// The threads of a block of a GPU: as wide as a warp, and a few rows that share their neighbours.
inline constexpr int tile_width = 32, tile_rows = 8;

template <class Space>
using block_range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

inline std::string label_of() { return "keel::block"; }
inline std::string const& label_of(std::string const& label) { return label; }

} // namespace keel::space::detail

namespace keel::block {

/// A kernel: one index of it is one block.
template <class Space>
  requires Kokkos::is_execution_space<Space>::value
struct launcher<Space> {
  template <class F, class... Label>
  static void run(Space const& space, std::size_t count, F const& f, Label const&... label) {
    Kokkos::parallel_for(
        keel::space::detail::label_of(label...),
        keel::space::detail::light(keel::space::detail::block_range<Space>(space, 0, std::int64_t(count))),
        keel::space::detail::blocked_for<F>{f});
  }
  template <class F, class... Label>
    requires keel::space::detail::HasLanes<Space>
  static void run_rows(Space const& space, std::size_t count, std::size_t rows, F const& f, Label const&... label) {
    using policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                         Kokkos::IndexType<int>>;
    if (count == 0 || rows == 0) return;
    Kokkos::parallel_for(
        keel::space::detail::label_of(label...),
        keel::space::detail::light(policy(space, {0, 0}, {int(count), int(rows)},
                                          {keel::space::detail::tile_width, keel::space::detail::tile_rows})),
        keel::space::detail::blocked_rows<F>{f});
  }
  /// Returns false and does nothing if the columns of a warp do not fit.
  template <class T, class F, class... Label>
    requires keel::space::detail::HasLanes<Space>
  static bool run_with_memory(Space const& space, std::size_t count, std::size_t values, F const& f,
                              Label const&... label) {
    int const threads = keel::space::detail::team_width(values * sizeof(T));
    if (threads == 0) return false;
    if (count == 0) return true;
    auto const wide = std::size_t(threads);
    // Bounds for 384 threads allow each of them 168 registers on CUDA; without any, nvcc keeps to 96, and loads wait.
    Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<384, 1>> policy(space, int((count + wide - 1) / wide), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(int(values * wide * sizeof(T) + alignof(T))));
    Kokkos::parallel_for(keel::space::detail::label_of(label...), keel::space::detail::light(policy),
                         keel::space::detail::blocked_with_memory<Space, T, F>{f, count, values});
    return true;
  }
};

/// A team: its threads, and their vector lanes, share the blocks. No barrier follows.
template <class Team>
  requires requires(Team const& team) { team.team_rank(), team.league_rank(), team.team_barrier(); }
struct launcher<Team> {
  template <class F>
  KEEL_FUNCTION static void run(Team const& team, std::size_t count, F const& f) {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, std::int64_t(count)), keel::space::detail::blocked_for<F>{f});
  }
};

} // namespace keel::block
