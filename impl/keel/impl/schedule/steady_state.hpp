// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the search for the steady state goes through, and finds; see steady.hpp.

#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/validity/transitions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// A set of states of a region; a state is a mask of the memories in which the region is valid, one bit each.
using place_set = std::uint16_t;

/// A set of states for each region of each variable. Plain arrays, because calls cost a constant evaluation time.
struct place_sets {
  place_set of[region_count]{};
  std::uint8_t layers = all_layers;         ///< of the halo that may be filled, at most
  std::uint8_t layers_of_each = all_layers; ///< the same of that entry of each `choose` which fills the fewest
};
/// Layers of the halo that a read of so many needs, as far as that is known while compiling.
constexpr int layers_needed(variable_info const& v, int layers) {
  int wide = 0;
  for (int d = 0; d < max_grid_rank; ++d) {
    if (v.on.width[d] == lattice::as_grid) return layers == all_layers ? 0 : layers;
    wide = std::max(wide, v.on.width[d] + (v.on.longer >> d & 1));
  }
  return std::min(layers, wide);
}
/// Whether a variable may have elements that another rank owns, or that lie beyond a wall.
constexpr bool may_have_ghosts(variable_info const& v) {
  for (int d = 0; d < max_grid_rank; ++d)
    if (v.on.width[d] != 0) return true;
  return v.on.longer != 0;
}
template <std::size_t States>
struct possible {
  place_sets states[States + 1]{};
  /// Written out, because nvcc 13 runs off the end of the rows in the default one.
  friend constexpr bool operator==(possible const& a, possible const& b) {
    for (std::size_t c = 0; c <= States; ++c) {
      if (a.states[c].layers != b.states[c].layers || a.states[c].layers_of_each != b.states[c].layers_of_each)
        return false;
      for (int r = 0; r < region_count; ++r)
        if (a.states[c].of[r] != b.states[c].of[r]) return false;
    }
    return true;
  }
};

inline constexpr int max_planned_memories = 4;

/// Copies by source, destination and region.
struct tally {
  std::int64_t copies[max_planned_memories][max_planned_memories][region_count]{};
};
/// What a read meets in the states that are possible there.
struct read_sources {
  bool found = false, lacked = false, lost = false; ///< valid here; valid elsewhere; valid nowhere
  unsigned from = 0;                                ///< memories that it can come from, one bit each

  constexpr void add(read_sources const& m) {
    found = found || m.found, lacked = lacked || m.lacked, lost = lost || m.lost, from |= m.from;
  }
  friend constexpr bool operator==(read_sources const&, read_sources const&) = default;
};

/// Why a read is lost: no exchange filled ghosts, or not so many layers; a rotation freed the level; or only some
/// entries of a `choose` leave valid what it needs.
enum class loss : std::uint8_t { of_ghosts, of_layers, of_level, by_choice };

/// The steady state: the copies of one period.
struct steady_state {
  tally period_copies;
  std::int64_t transient = 0, period = 0;  ///< steps; period 0 if none was found
  std::uint32_t lost_request = no_request; ///< the first that reads a region valid nowhere, for certain, in any step
  loss why = loss::of_ghosts;
};

} // namespace keel::residency::detail
