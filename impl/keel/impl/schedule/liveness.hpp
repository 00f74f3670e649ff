// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which levels of which variables are live when a step begins: later steps read them before they write them. The
/// bodies stand in liveness.ipp.

#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/transitions.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// What is live of one level of a variable.
struct live_level {
  region what = region::none;
  bool is_summand = false; ///< ghosts that an `accumulate` adds, which no exchange brings back

  friend bool operator==(live_level const&, live_level const&) = default;
  void join(live_level const& other) { what = what | other.what, is_summand = is_summand || other.is_summand; }
};
/// By variable, then level.
using live_levels = std::vector<std::vector<live_level>>;
inline void join(live_levels& all, live_levels const& more) {
  for (std::size_t v = 0; v < all.size(); ++v)
    for (std::size_t l = 0; l < all[v].size(); ++l) all[v][l].join(more[v][l]);
}

/// What is live before steps of these schedules, in any order, whose requests have variables by number. `none` has the
/// levels of all variables. A condition may hold or not; `once` has run unless `is_first`; an output may read all.
[[nodiscard]] live_levels live_before(std::span<schedule_nodes const> schedules, live_levels const& none,
                                      bool is_first);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/schedule/liveness.ipp>
#endif
