// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the elements of a variable on all ranks lie as one array, in the order of their global indices: in a file, or
/// gathered. The bodies stand in global_order.ipp.

#include <keel/impl/exchange/strip.hpp>
#include <keel/impl/layout/elements.hpp>
#include <keel/impl/layout/geometry.hpp>
#include <keel/impl/residency/arrays.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keel::residency::detail {

/// Elements of an array along one of its dimensions: how many, and how far apart; and where the first of them lies
/// along this dimension of the whole, which is so long.
struct ordered_dimension {
  std::int64_t count = 1, stride = 1, first = 0, extent = 1;
};
/// A box of an array, which is one of the whole, too: the slowest dimension of the whole first. Strides count elements.
struct ordered_box {
  static constexpr int max = max_rank + 2;
  std::array<ordered_dimension, max> dimensions{};
  int rank = 0;
  std::int64_t at = 0; ///< the first element, in the array

  void add(ordered_dimension const& one) { dimensions[std::size_t(rank++)] = one; }
};

/// Calls f(first in the array, first in the whole, how many) for runs of elements that follow on each other in both.
void for_each_run(ordered_box const& box, auto const& f) {
  int rank = box.rank; // the dimensions from it on are one run, of so many elements; the whole has `size` there
  for (std::int64_t run = 1, size = 1; rank > 0 && run == size; --rank) {
    ordered_dimension const& d = box.dimensions[std::size_t(rank - 1)];
    if (d.count != 1 && d.stride != run) break;
    run *= d.count, size *= d.extent;
  }
  std::int64_t run = 1;
  for (int d = rank; d < box.rank; ++d) run *= box.dimensions[std::size_t(d)].count;
  std::array<std::int64_t, ordered_box::max> steps{}, index{};
  std::int64_t step = 1, whole = 0, many = 1;
  for (int d = box.rank; d-- > 0;) {
    ordered_dimension const& one = box.dimensions[std::size_t(d)];
    steps[std::size_t(d)] = step, whole += one.first * step, step *= one.extent, many *= one.count;
  }
  if (many == 0) return;
  for (std::int64_t at = box.at;;) {
    f(at, whole, run);
    int d = rank;
    for (; d-- > 0;) {
      ordered_dimension const& one = box.dimensions[std::size_t(d)];
      at += one.stride, whole += steps[std::size_t(d)];
      if (++index[std::size_t(d)] < one.count) break;
      at -= one.count * one.stride, whole -= one.count * steps[std::size_t(d)], index[std::size_t(d)] = 0;
    }
    if (d < 0) return;
  }
}

/// What this rank owns of the ids of a mesh, which are local, among those of all ranks.
[[nodiscard]] std::vector<ordered_box> boxes_of_ids(elements const& here);

/// A variable of a component, or of all blocks, as one array. With walls it begins where they do.
struct whole_variable {
  arrays const& of;
  int variable, component = 0;
  bool has_walls = false;

  /// The slowest first, with strides in the array.
  [[nodiscard]] std::vector<dimension_run> dimensions() const;
  /// What this rank has of owned elements, of walls, or of both. `once`: without what another rank or block has.
  [[nodiscard]] std::vector<ordered_box> boxes(region where, bool once) const;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/files/global_order.ipp>
#endif
