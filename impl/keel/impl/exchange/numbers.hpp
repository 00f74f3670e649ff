// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Words as the numbers that they hold: their sums, and numbers with the other sign.

#include <keel/layout/variable.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keel::residency::detail {

/// The sum of two words that hold numbers of type `T`, one or more each.
template <class T, class Word>
[[nodiscard]] KEEL_FUNCTION Word sum_as(Word a, [[maybe_unused]] Word b) {
  if constexpr (sizeof(T) <= sizeof(Word)) {
    struct numbers {
      T of[sizeof(Word) / sizeof(T)];
    };
    numbers sum, more; // not by std::bit_cast, which nvcc calls on a GPU only with --expt-relaxed-constexpr
    memcpy(&sum, &a, sizeof a), memcpy(&more, &b, sizeof b);
    for (std::size_t k = 0; k < sizeof(Word) / sizeof(T); ++k) sum.of[k] += more.of[k];
    memcpy(&a, &sum, sizeof a);
  }
  return a;
}
template <class Word>
[[nodiscard]] KEEL_FUNCTION Word sum_of(addend as, Word a, Word b) {
  if (as == addend::float64) return sum_as<double>(a, b);
  if (as == addend::float32) return sum_as<float>(a, b);
  if (as == addend::int64) return sum_as<std::uint64_t>(a, b);
  return sum_as<std::uint32_t>(a, b);
}

/// A word of numbers with the other sign.
template <class T, class Word>
[[nodiscard]] KEEL_FUNCTION Word negative_as(Word a) {
  if constexpr (sizeof(T) <= sizeof(Word)) {
    struct numbers {
      T of[sizeof(Word) / sizeof(T)];
    };
    numbers all;
    memcpy(&all, &a, sizeof a);
    for (std::size_t k = 0; k < sizeof(Word) / sizeof(T); ++k) all.of[k] = -all.of[k];
    memcpy(&a, &all, sizeof a);
  }
  return a;
}
template <class Word>
[[nodiscard]] KEEL_FUNCTION Word negative_of(addend as, Word a) {
  if (as == addend::float64) return negative_as<double>(a);
  if (as == addend::float32) return negative_as<float>(a);
  if (as == addend::int64) return negative_as<std::uint64_t>(a);
  return negative_as<std::uint32_t>(a);
}

} // namespace keel::residency::detail
