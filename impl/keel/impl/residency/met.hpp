// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the reads of a schedule meet in its steady state.

#include <keel/residency/transitions.hpp>

namespace keel::residency::detail {

/// What a read met in the states that are possible there.
struct met {
  bool found = false, lacked = false, lost = false; ///< valid here; valid elsewhere; valid nowhere
  unsigned from = 0;                                ///< memories that it can come from, one bit each
};
/// Whoever wants to know what each read met, in the steady state. Nobody does while compiling.
struct unheard {
  constexpr void read(int, region, met const&) {}
};

} // namespace keel::residency::detail
