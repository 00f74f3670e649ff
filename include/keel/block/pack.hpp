// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A few values that are computed with as one. Rests on the standard library alone.

#include <keel/policy/macros.hpp>

#include <bit>
#include <cstddef>
#include <type_traits>

namespace keel::block {

/// `Length` values of `T`, side by side; arithmetic works element by element.
///
/// Plain loops of a compile-time length, which compilers turn into vector
/// instructions; every element sees the same operations in the same order as a scalar
/// loop would give it, so the bits are the same.
template <class T, std::size_t Length>
struct pack {
  static_assert(Length > 0, "keel::block::pack: the length is 0 (a pack holds at least one element). "
                            "Use keel::block::length?");
  static_assert(std::is_arithmetic_v<T>, "keel::block::pack: the element is not a number (arithmetic is done "
                                         "on each). Use an array of structs instead?");

  using value_type = T;

  /// Aligned to its own size where that is a power of two, as vector loads like it, at most 64 bytes.
  static constexpr std::size_t alignment =
      std::has_single_bit(sizeof(T) * Length) ? (sizeof(T) * Length < 64 ? sizeof(T) * Length : 64) : alignof(T);
  alignas(alignment) T values[Length];

  [[nodiscard]] KEEL_FUNCTION static constexpr std::size_t size() { return Length; }

  /// Every element `value`.
  [[nodiscard]] KEEL_FUNCTION static constexpr pack filled(T value) {
    pack p{};
    for (std::size_t i = 0; i < Length; ++i) p.values[i] = value;
    return p;
  }
  /// The `Length` values from `source` on, which need not be aligned.
  [[nodiscard]] KEEL_FUNCTION static constexpr pack load(T const* source) {
    pack p{};
    for (std::size_t i = 0; i < Length; ++i) p.values[i] = source[i];
    return p;
  }
  /// The first `count` values from `source` on and `rest` behind them; reads no further.
  [[nodiscard]] KEEL_FUNCTION static constexpr pack load(T const* source, std::size_t count, T rest = T{}) {
    pack p{};
    for (std::size_t i = 0; i < Length; ++i) p.values[i] = i < count ? source[i] : rest;
    return p;
  }
  KEEL_FUNCTION constexpr void store(T* target) const {
    for (std::size_t i = 0; i < Length; ++i) target[i] = values[i];
  }
  /// Writes the first `count` values, no more than `Length`.
  KEEL_FUNCTION constexpr void store(T* target, std::size_t count) const {
    for (std::size_t i = 0; i < Length && i < count; ++i) target[i] = values[i];
  }

  [[nodiscard]] KEEL_FUNCTION constexpr T& operator[](std::size_t i) { return values[i]; }
  [[nodiscard]] KEEL_FUNCTION constexpr T const& operator[](std::size_t i) const { return values[i]; }

  KEEL_FUNCTION friend constexpr pack operator+(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return static_cast<T>(x + y); }); }
  KEEL_FUNCTION friend constexpr pack operator-(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return static_cast<T>(x - y); }); }
  KEEL_FUNCTION friend constexpr pack operator*(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return static_cast<T>(x * y); }); }
  KEEL_FUNCTION friend constexpr pack operator/(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return static_cast<T>(x / y); }); }
  KEEL_FUNCTION friend constexpr pack operator-(pack const& a) { return filled(T{0}) - a; }

  /// Element by element the smaller, and the larger.
  KEEL_FUNCTION friend constexpr pack min(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return y < x ? y : x; }); }
  KEEL_FUNCTION friend constexpr pack max(pack const& a, pack const& b) { return each(a, b, [](T x, T y) { return x < y ? y : x; }); }

  KEEL_FUNCTION friend constexpr bool operator==(pack const& a, pack const& b) {
    bool same = true;
    for (std::size_t i = 0; i < Length; ++i) same = same && a.values[i] == b.values[i];
    return same;
  }

private:
  template <class F>
  KEEL_FUNCTION static constexpr pack each(pack const& a, pack const& b, F f) {
    pack p{};
    for (std::size_t i = 0; i < Length; ++i) p.values[i] = f(a.values[i], b.values[i]);
    return p;
  }
};

/// The sum of all elements, from the first to the last, so that the bits do not depend on the compiler.
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T sum(pack<T, Length> const& p) {
  T total = p[0];
  for (std::size_t i = 1; i < Length; ++i) total = static_cast<T>(total + p[i]);
  return total;
}

} // namespace keel::block
