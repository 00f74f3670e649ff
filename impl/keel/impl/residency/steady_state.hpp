// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the search for the steady state finds, see steady.hpp.

#include <keel/impl/residency/schedule_table.hpp>
#include <keel/residency/transitions.hpp>

#include <cstdint>

namespace keel::residency::detail {

inline constexpr int max_planned_memories = 4;

/// Copies by source, destination and region.
struct tally {
  std::int64_t copies[max_planned_memories][max_planned_memories][region_count]{};
};
/// What a read meets in the states that are possible there.
struct met {
  bool found = false, lacked = false, lost = false; ///< valid here; valid elsewhere; valid nowhere
  unsigned from = 0;                                ///< memories that it can come from, one bit each

  constexpr void add(met const& m) {
    found = found || m.found, lacked = lacked || m.lacked, lost = lost || m.lost, from |= m.from;
  }
  friend constexpr bool operator==(met const&, met const&) = default;
};

/// The steady state: the copies of one period.
struct steady_state {
  tally period_copies;
  std::int64_t transient = 0, period = 0;  ///< steps; period 0 if none was found
  std::uint32_t lost_request = no_request; ///< the first that reads a region valid nowhere, for certain
  region lost_region = region::none;
  bool lost_by_choice = false; ///< only some entries of a `choose` leave it valid nowhere
};

} // namespace keel::residency::detail
