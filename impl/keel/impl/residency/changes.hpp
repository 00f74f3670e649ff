// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What callers say of arrays that change.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace keel::residency::detail {

struct elements;

/// Lengths that a variable gets beyond the grid's or the mesh's.
struct new_lengths {
  int variable;
  std::span<std::int64_t const> lengths;
};

/// What new elements of a variable get: one element, or rows of an array that lies as the variable's arrays do.
struct new_values {
  int variable = -1;
  void const* element = nullptr;
  std::shared_ptr<void> rows = nullptr;
  std::size_t row_count = 0;
};

/// What a rank gets of a mesh.
struct new_cut {
  std::string_view mesh = {};
  std::shared_ptr<elements const> part = nullptr;
};

} // namespace keel::residency::detail
