// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exponential and the natural logarithm of registers of doubles, without branches, so that every length and every
/// device computes the same bits.
///
/// Method: exp(x) = 2^k exp(r), |r| <= ln(2)/2, exp(r) = 1 + r + r^2 p(r), p of degree 9. log(x) = k ln(2) + log(1+f),
/// 1+f in [sqrt(1/2), sqrt(2)), log(1+f) = 2 s + s z q(z), s = f/(2+f), z = s^2, q of degree 6. Both polynomials are
/// minimax approximations by the algorithm of Remez, with errors of 2^-56.5 of exp(r) and 2^-58.9 of log(1+f). ln(2) is
/// the sum of two doubles, the first with 41 bits, so that k times it is exact.

#include <keel/impl/block/registers.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace keel::block::detail {

inline constexpr double ln2_high = 0x1.62e42fefa3000p-1;
inline constexpr double ln2_low = 0x1.3de6af278ece6p-42;
/// 1.5 * 2^52: a double near it has its integer part in its last bits, so adding it rounds to an integer.
inline constexpr double rounder = 0x1.8p52;
inline constexpr std::int64_t rounder_bits = 0x4338000000000000;
// Here, because functions for devices may not call those of numeric_limits.
inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double least_normal = std::numeric_limits<double>::min();

/// Every element `value`.
template <class V, class T>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION V spread(T value) {
  return value - V{};
}

/// c[0] + x (c[1] + x (c[2] + ...)).
template <class V, std::size_t Count>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION V polynomial(V x, double const (&c)[Count]) {
  V p = spread<V>(c[Count - 1]);
  KEEL_UNROLL
  for (std::size_t i = 1; i < Count; ++i) p = p * x + c[Count - 1 - i];
  return p;
}

struct exponential {
  template <class V>
  KEEL_FORCE_INLINE KEEL_FUNCTION V operator()(V given) const {
    using U = typename register_of<std::uint64_t, sizeof(V) / sizeof(double)>::type;
    constexpr double coefficients[] = {0x1.000000000000bp-1,  0x1.5555555555561p-3,  0x1.5555555550030p-5,
                                       0x1.111111110d63ap-7,  0x1.6c16c185a757bp-10, 0x1.a01a01bae2352p-13,
                                       0x1.a0199693bc67ap-16, 0x1.71dddfcc284cap-19, 0x1.28b04913a281ep-22,
                                       0x1.af858702f7cd7p-26};
    // Beyond these bounds the result is infinite or 0; not a number passes both comparisons.
    V const least = spread<V>(-746.0), most = spread<V>(710.0);
    V x = given < least ? least : given;
    x = x > most ? most : x;
    V const shifted = x * 0x1.71547652b82fep+0 + (rounder + 2 * 1023);
    V const k = shifted - (rounder + 2 * 1023);
    V const high = x - k * ln2_high, low = k * ln2_low;
    V const r = high - low;
    V const result = 1 + (high + (r * r * polynomial(r, coefficients) - low));
    // In two factors, because 2^k itself may be too large or too small for a double. Their exponents with bias are the
    // halves of k + 2 * 1023, which the last 12 bits of `shifted` hold.
    U const both = bits_of<U>(shifted), half = both >> 1;
    return result * bits_of<V>(half << 52) * bits_of<V>((both - half) << 52);
  }
};

struct logarithm {
  template <class V>
  KEEL_FORCE_INLINE KEEL_FUNCTION V operator()(V given) const {
    using I = typename register_of<std::int64_t, sizeof(V) / sizeof(double)>::type;
    using U = typename register_of<std::uint64_t, sizeof(V) / sizeof(double)>::type;
    constexpr double series[] = {0x1.5555555555592p-1, 0x1.999999997fd77p-2, 0x1.24924941f4fcap-2, 0x1.c71c520607208p-3,
                                 0x1.74663fa24cd53p-3, 0x1.39a1a6f3b88a4p-3, 0x1.2f0634a5f7592p-3};
    constexpr std::uint64_t half_root = 0x3fe6a09e667f3bcd; // the bits of sqrt(1/2)
    constexpr std::uint64_t one_over = std::uint64_t{1} << 62;
    V const normal = spread<V>(least_normal);
    V const x = given < normal ? given * 0x1p54 : given;
    // The exponent, with 1024 added so that the shift is one of unsigned numbers.
    U const bits = bits_of<U>(x) - half_root;
    U const exponent = (bits + one_over) >> 52;
    V const unscaled = bits_of<V>(bits_of<I>(exponent) + (rounder_bits - 1024)) - rounder;
    V const k = given < normal ? unscaled - 54 : unscaled;
    V const f = bits_of<V>((bits & ((std::uint64_t{1} << 52) - 1)) + half_root) - 1;
    V const s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
    V const rest = s * (half_square + z * polynomial(z, series)) + k * ln2_low;
    V const result = k * ln2_high - ((half_square - rest) - f);
    V const outside = given == V{} ? spread<V>(-infinite) : spread<V>(not_a_number);
    V const positive = given == infinite ? given : result;
    return given > V{} ? positive : outside;
  }
};

} // namespace keel::block::detail
