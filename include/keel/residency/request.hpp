// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a call of the ledger asks for: variables by number.

#include <keel/residency/transitions.hpp>

#include <limits>

namespace keel::residency {

/// What a routine needs of one level of a variable, and what it overwrites.
struct request {
  int variable = 0, level = 0;
  region reads = region::none, writes = region::none;
};

/// A half-open range of components.
struct component_range {
  int begin = 0, end = 1;

  /// Without those that there are not.
  [[nodiscard]] constexpr component_range of(int components) const {
    return {begin, end < components ? end : components};
  }
};
/// However many there are.
inline constexpr component_range every_component{0, std::numeric_limits<int>::max()};

} // namespace keel::residency
