// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Loops over blocks of neighbouring columns of a field. Depends only on the standard library.

#include <keel/block/blocks.hpp>
#include <keel/block/chunks.hpp>
#include <keel/block/column_block.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace keel::block {

/// The columns of a part of a grid of one or two horizontal indices.
template <std::size_t Horizontal>
struct columns {
  std::size_t first[Horizontal];
  std::size_t last[Horizontal];
  std::size_t along; ///< the horizontal index that is cut into blocks: the one whose neighbours are closest in memory

  /// Whether there are rows side by side, which a GPU takes as tiles.
  static constexpr bool in_rows = Horizontal > 1;

  template <std::size_t Length>
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t block_count() const {
    return blocks_in_row<Length>() * rows();
  }
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t rows() const {
    std::size_t count = 1;
    for (std::size_t d = 0; d < Horizontal; ++d)
      if (d != along) count *= last[d] > first[d] ? last[d] - first[d] : 0;
    return count;
  }

  /// Blocks in one row, which runs along `along`.
  template <std::size_t Length>
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t blocks_in_row() const {
    return chunks<Length>(first[along], last[along]).size();
  }

  /// Calls `f(block, more...)` for block `i`; a tail is masked, or scalar.
  template <std::size_t Length, tail Tail, class F, class... More>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void visit(std::size_t i, F& f, More&... more) const {
    std::size_t const in_row = blocks_in_row<Length>();
    visit_in_row<Length, Tail>(i % in_row, i / in_row, f, more...);
  }
  /// Calls `f(block, more...)` for block `n` of row `row`; a tail is masked, or scalar.
  template <std::size_t Length, tail Tail, class F, class... More>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void visit_in_row(std::size_t n, std::size_t row, F& f,
                                                              More&... more) const {
    chunks<Length> const cut(first[along], last[along]);
    std::size_t at[Horizontal];
    for (std::size_t d = 0; d < Horizontal; ++d) at[d] = d == along ? cut.first_of(n) : first[d] + row;
    if (n < cut.full_blocks()) return call<Length, true>(at, Length, f, more...);
    if constexpr (Length > 1) {
      std::size_t const count = cut.size_of(n);
      if constexpr (Tail == tail::scalar) {
        for (std::size_t c = 0; c < count; ++c, ++at[along]) call<1, true>(at, 1, f, more...);
      } else {
        call<Length, false>(at, count, f, more...);
      }
    }
  }

private:
  KEEL_CALLS_USER
  template <std::size_t Length, bool Whole, class F, class... More>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void call(std::size_t const (&at)[Horizontal], std::size_t count, F& f,
                                                      More&... more) const {
    column_block<Horizontal, Length, Whole> block{{}, along, count};
    for (std::size_t d = 0; d < Horizontal; ++d) block.first[d] = at[d];
    f(block, more...);
  }
};

/// The columns of `field`, whose last index runs along them: all, or those of [begin, end). Refuses a part beyond the
/// field.
template <class View>
  requires(Field<View, 2> || Field<View, 3>)
[[nodiscard]] constexpr auto columns_of(View const& field, std::array<std::size_t, std::size_t(View::rank) - 1> begin,
                                        std::array<std::size_t, std::size_t(View::rank) - 1> end) {
  constexpr std::size_t horizontal = std::size_t(View::rank) - 1;
  columns<horizontal> c{};
  for (std::size_t d = 0; d < horizontal; ++d) {
    if (end[d] > std::size_t(detail::extent_of(field, d)))
      throw error("block", "the columns end at " + std::to_string(end[d]) + " in index " + std::to_string(d),
                  "the field has " + std::to_string(detail::extent_of(field, d)), "Give the end of a part of it");
    c.first[d] = begin[d], c.last[d] = std::max(begin[d], end[d]);
  }
  c.along = horizontal == 2 && field.stride(1) <= field.stride(0) ? 1 : 0;
  return c;
}
template <class View>
  requires(Field<View, 2> || Field<View, 3>)
[[nodiscard]] constexpr auto columns_of(View const& field) {
  std::array<std::size_t, std::size_t(View::rank) - 1> end{};
  for (std::size_t d = 0; d < end.size(); ++d) end[d] = std::size_t(detail::extent_of(field, d));
  return columns_of(field, {}, end);
}

} // namespace keel::block
