// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A range of indices cut into blocks of a compile-time length and one tail. Depends only on
/// the standard library.

#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>

namespace keel::block {

/// The arithmetic of [begin, end) in blocks of `Length`. An end before the begin is an
/// empty range. Exact up to the largest `Index`: no sum passes the end.
template <std::size_t Length, std::integral Index = std::size_t>
class chunks {
public:
  KEEL_FUNCTION constexpr explicit chunks(Index end) : chunks(Index{0}, end) {}
  KEEL_FUNCTION constexpr chunks(Index begin, Index end) : begin_(begin), end_(end < begin ? begin : end) {
    // Here, because clang says more of a class that failed.
    static_assert(Length > 0, "keel::block::chunks: the length is 0 (a block holds at least one element). "
                              "Use keel::block::length.");
    static_assert(Length == 0 || (std::size_t(static_cast<Index>(Length)) == Length && static_cast<Index>(Length) > 0),
                  "keel::block::chunks: the length does not fit the index type (the arithmetic would wrap). "
                  "Use a wider index.");
  }

  /// Blocks of exactly `Length`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t full_blocks() const { return extent() / divisor; }
  /// Indices after the last full block; less than `Length`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t tail() const { return extent() % divisor; }
  /// Blocks altogether, the tail counted as one.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t size() const { return full_blocks() + (tail() != 0); }

  /// First index of block `i`, `i` < `size()`.
  [[nodiscard]] KEEL_FUNCTION constexpr Index first_of(std::size_t i) const {
    return static_cast<Index>(std::size_t(begin_) + i * Length);
  }
  /// Number of indices in block `i`, `i` < `size()`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t size_of(std::size_t i) const {
    return i < full_blocks() ? Length : tail();
  }

private:
  static constexpr std::size_t divisor = Length == 0 ? 1 : Length; // 0 has its error already
  // Unsigned, so that a range wider than half the type does not overflow.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t extent() const { return std::size_t(end_) - std::size_t(begin_); }

  Index begin_;
  Index end_;
};

} // namespace keel::block
