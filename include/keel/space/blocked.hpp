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
#include <type_traits>
#include <utility>

namespace keel::space::detail {

/// Kokkos calls it with a signed index, and with what it reduces into.
template <class F>
struct blocked_for {
  F f;
  KEEL_FUNCTION void operator()(std::int64_t i) const { f(static_cast<std::size_t>(i)); }
};
template <class F, class Value>
struct blocked_reduce {
  F f;
  KEEL_FUNCTION void operator()(std::int64_t i, Value& update) const { f(static_cast<std::size_t>(i), update); }
};

/// What a result holds: a reducer's value, or the scalar itself.
template <class Result>
struct reduced_value {
  using type = std::remove_cvref_t<Result>;
};
template <class Result>
  requires requires { typename std::remove_cvref_t<Result>::reducer; }
struct reduced_value<Result> {
  using type = typename std::remove_cvref_t<Result>::value_type;
};

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
    Kokkos::parallel_for(keel::space::detail::label_of(label...),
                         keel::space::detail::block_range<Space>(space, 0, static_cast<std::int64_t>(count)),
                         keel::space::detail::blocked_for<F>{f});
  }
  template <class F, class Result, class... Label>
  static void reduce(Space const& space, std::size_t count, F const& f, Result&& result, Label const&... label) {
    using value = typename keel::space::detail::reduced_value<Result>::type;
    Kokkos::parallel_reduce(keel::space::detail::label_of(label...),
                            keel::space::detail::block_range<Space>(space, 0, static_cast<std::int64_t>(count)),
                            keel::space::detail::blocked_reduce<F, value>{f}, std::forward<Result>(result));
  }
};

/// A team: its threads, and their vector lanes, share the blocks. No barrier follows.
template <class Team>
  requires requires(Team const& team) { team.team_rank(), team.league_rank(), team.team_barrier(); }
struct launcher<Team> {
  template <class F>
  KEEL_FUNCTION static void run(Team const& team, std::size_t count, F const& f) {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, static_cast<std::int64_t>(count)),
                         keel::space::detail::blocked_for<F>{f});
  }
};

} // namespace keel::block
