// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A checksum of arrays that many ranks write in parts of their own, and that others read in other parts.

#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// The sum modulo 2^64 of a number for each word, by its value and its index in the whole: that of a whole is the sum
/// of those of its parts, in any order. What is changed changes it, but for a chance of some 2^-64.
///
/// A word has 1, 2, 4 or 8 bytes: those of an element, or 8 of a larger one; a last word may be cut. `first_word` is
/// the index of the first one here.
[[nodiscard]] std::uint64_t checksum(std::byte const* bytes, std::size_t size, std::uint64_t first_word,
                                     int word_bytes = 8);

/// The words of elements of this size.
[[nodiscard]] constexpr int word_bytes_of(int element_bytes) {
  return element_bytes % 8 == 0 ? 8 : element_bytes % 4 == 0 ? 4 : element_bytes % 2 == 0 ? 2 : 1;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/checksum.ipp>
#endif
