// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is known of the arrays of a variable once their type is forgotten.

#include <keel/layout/grid.hpp>
#include <keel/validity/transitions.hpp>

#include <cstdint>

namespace keel::residency {

/// The array that some bytes lie in, and whether they are all of it.
struct owner {
  int variable, level, component;
  memory where;
  bool is_whole;
};

namespace detail {

/// Lengths of the dimensions beyond the grid's that an option gives; whether for this variable by name.
struct lengths_given {
  std::int64_t const* lengths;
  int count;
  bool is_own;
};

/// What a type of arrays says of how they lie. The first `dynamic` of `rank` dimensions are set at run time.
struct array_kind {
  int rank, dynamic;
  std::int64_t element_bytes;
  bool is_left; ///< the first index runs fastest
  addend added_as;
  std::int64_t fixed[max_rank + 1];
  number_kind numbers = number_kind::none;
  int numbers_of_each = 1; ///< a complex number is two

  template <class View>
  static constexpr array_kind of(bool is_left) {
    using element = typename View::value_type;
    constexpr bool is_complex = requires(element z) { z.real(); };
    array_kind made{int(View::rank),         int(View::rank_dynamic), sizeof(element), is_left, addend_of<element>, {},
                    number_kind_of<element>, is_complex ? 2 : 1};
    for (int d = made.dynamic; d < made.rank; ++d) made.fixed[d] = std::int64_t(View::static_extent(unsigned(d)));
    return made;
  }
};

} // namespace detail

} // namespace keel::residency
