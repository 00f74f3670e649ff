// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How far a checked routine may reach in an array, and whether it did further.

#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// The indices that a routine declares of a level of a variable, and the first that it used beyond them.
struct reach {
  request asked;
  int component = 0, rank = 0;
  std::int64_t begin[max_rank]{}, end[max_rank]{}, used[max_rank]{};
  int is_exceeded = 0;
  alignas(64) std::byte nothing[256]{}; ///< what is read there, if the array has no element

  [[nodiscard]] KEEL_FUNCTION bool has(std::size_t d, std::int64_t i) const { return i >= begin[d] && i < end[d]; }
  [[nodiscard]] KEEL_FUNCTION std::int64_t nearest(std::size_t d, std::int64_t i) const {
    return i < begin[d] ? begin[d] : i < end[d] ? i : end[d] - 1;
  }
};

} // namespace keel::residency::detail
