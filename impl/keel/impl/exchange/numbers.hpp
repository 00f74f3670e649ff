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

/// `a + b` of the numbers of type `T` that two words hold, one or more each; or `-a`.
template <class T, bool Negates, class Word>
[[nodiscard]] KEEL_FUNCTION Word computed_as(Word a, [[maybe_unused]] Word b) {
  if constexpr (sizeof(T) <= sizeof(Word)) {
    struct numbers {
      T of[sizeof(Word) / sizeof(T)];
    };
    numbers all, more; // not by std::bit_cast, which nvcc calls on a GPU only with --expt-relaxed-constexpr
    memcpy(&all, &a, sizeof a), memcpy(&more, &b, sizeof b);
    for (std::size_t k = 0; k < sizeof(Word) / sizeof(T); ++k)
      all.of[k] = Negates ? -all.of[k] : all.of[k] + more.of[k];
    memcpy(&a, &all, sizeof a);
  }
  return a;
}
template <bool Negates, class Word>
[[nodiscard]] KEEL_FUNCTION Word computed(addend as, Word a, Word b) {
  if (as == addend::float64) return computed_as<double, Negates>(a, b);
  if (as == addend::float32) return computed_as<float, Negates>(a, b);
  if (as == addend::int64) return computed_as<std::uint64_t, Negates>(a, b);
  return computed_as<std::uint32_t, Negates>(a, b);
}
template <class Word>
[[nodiscard]] KEEL_FUNCTION Word sum_of(addend as, Word a, Word b) {
  return computed<false>(as, a, b);
}
/// A word of numbers with the other sign.
template <class Word>
[[nodiscard]] KEEL_FUNCTION Word negative_of(addend as, Word a) {
  return computed<true>(as, a, a);
}

} // namespace keel::residency::detail
