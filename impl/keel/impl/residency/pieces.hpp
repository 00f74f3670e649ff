// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// For which cells a routine in pieces is called, one call after the other.

#include <keel/impl/exchange/strip.hpp>
#include <keel/impl/residency/arrays.hpp>

#include <span>

namespace keel::residency::detail {

/// The pieces of a routine within which an exchange of `asked` begins.
struct routine_pieces {
  arrays const& on;
  std::span<request const> asked;
  bool is_elsewhere; ///< the exchange is in another memory: it takes the whole rim from there

  /// Those of a component or block: what other ranks wait for, then the rest.
  [[nodiscard]] box_set of(int c) const { return rim_first(on.local({c}), on.rim_depth(asked, {c}), is_elsewhere); }
  /// Whether a rank waits for some of these components, and all leave a rest. Blocks for which no rank waits are all
  /// rest, so an exchange elsewhere cannot take their rims.
  [[nodiscard]] bool can_be(component_range range) const {
    if (range.end - range.begin != 1 && (!on.has_blocks() || is_elsewhere)) return false;
    bool is_waited_for = false;
    for (int c = range.begin; c < range.end; ++c) {
      int const count = of(c).count;
      if (count == 0) return false;
      is_waited_for = is_waited_for || count > 1;
    }
    return is_waited_for;
  }
};

} // namespace keel::residency::detail
