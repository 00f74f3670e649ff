// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A range of indices cut into blocks of a compile-time length and one tail, and
/// the loop over it. Rests on the standard library alone.

#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>

namespace keel::block {

/// `Length` consecutive indices from `begin()` on; the number is part of the type, so
/// that a loop over it unrolls and vectorises without a remainder.
template <std::integral Index, std::size_t Length>
struct full_block {
  Index first;
  [[nodiscard]] KEEL_FUNCTION constexpr Index begin() const { return first; }
  [[nodiscard]] KEEL_FUNCTION static constexpr Index size() { return static_cast<Index>(Length); }
  [[nodiscard]] KEEL_FUNCTION constexpr Index end() const { return static_cast<Index>(first + size()); }
};

/// The indices left over at the end; fewer than a full block.
template <std::integral Index>
struct tail_block {
  Index first;
  Index count;
  [[nodiscard]] KEEL_FUNCTION constexpr Index begin() const { return first; }
  [[nodiscard]] KEEL_FUNCTION constexpr Index size() const { return count; }
  [[nodiscard]] KEEL_FUNCTION constexpr Index end() const { return static_cast<Index>(first + count); }
};

/// The arithmetic of [begin, end) in blocks of `Length`. An end before the begin is an
/// empty range. Exact up to the largest `Index`: no sum passes the end.
template <std::size_t Length, std::integral Index = std::size_t>
class chunks {
  static_assert(Length > 0, "keel::block::chunks: the length is 0 (a block holds at least one element). "
                            "Use keel::block::length?");
  static_assert(static_cast<std::size_t>(static_cast<Index>(Length)) == Length && static_cast<Index>(Length) > 0,
                "keel::block::chunks: the length does not fit the index type (the arithmetic would wrap). "
                "Use a wider index?");

public:
  KEEL_FUNCTION constexpr explicit chunks(Index end) : chunks(Index{0}, end) {}
  KEEL_FUNCTION constexpr chunks(Index begin, Index end) : begin_(begin), end_(end < begin ? begin : end) {}

  [[nodiscard]] KEEL_FUNCTION constexpr Index begin_index() const { return begin_; }
  [[nodiscard]] KEEL_FUNCTION constexpr Index end_index() const { return end_; }

  /// Blocks of exactly `Length`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t full_blocks() const { return extent() / Length; }
  /// Indices after the last full block; less than `Length`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t tail() const { return extent() % Length; }
  /// Blocks altogether, the tail counted as one.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t size() const { return full_blocks() + (tail() != 0); }

  /// First index of block `i`, `i` < `size()`.
  [[nodiscard]] KEEL_FUNCTION constexpr Index first_of(std::size_t i) const {
    return static_cast<Index>(static_cast<std::size_t>(begin_) + i * Length);
  }
  /// Number of indices in block `i`, `i` < `size()`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t size_of(std::size_t i) const {
    return i < full_blocks() ? Length : tail();
  }

private:
  // Unsigned, so that a range wider than half the type does not overflow.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t extent() const {
    return static_cast<std::size_t>(end_) - static_cast<std::size_t>(begin_);
  }

  Index begin_;
  Index end_;
};

/// Calls `f(block)` for each block of [begin, end), the full ones first, then the tail
/// if there is one. Every index is in exactly one block. `f` is instantiated twice, for
/// `full_block` and `tail_block`; both have `begin()`, `size()` and `end()`.
template <std::size_t Length, std::integral Index, class F>
KEEL_FUNCTION constexpr void for_each_block(Index begin, Index end, F&& f) {
  chunks<Length, Index> const cut{begin, end};
  std::size_t const full = cut.full_blocks();
  for (std::size_t i = 0; i < full; ++i) f(full_block<Index, Length>{cut.first_of(i)});
  if (cut.tail() != 0) f(tail_block<Index>{cut.first_of(full), static_cast<Index>(cut.tail())});
}

/// The same over [0, end).
template <std::size_t Length, std::integral Index, class F>
KEEL_FUNCTION constexpr void for_each_block(Index end, F&& f) {
  for_each_block<Length>(Index{0}, end, static_cast<F&&>(f));
}

} // namespace keel::block
