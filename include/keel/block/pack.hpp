// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A few values that are computed with as one. Depends only on the standard library.

#include <keel/impl/block/registers.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::block {

/// `Length` values of `T`, side by side; arithmetic works element by element.
///
/// Operators become vector instructions if a vector register divides the length, and loops of a compile-time length
/// otherwise. Every element sees the same operations in the same order as in a scalar loop, so the bits are the same.
template <class T, std::size_t Length>
struct pack {
  static_assert(Length > 0, "keel::block::pack: the length is 0 (a pack holds at least one element). "
                            "Use keel::block::length.");
  static_assert(std::is_arithmetic_v<T>, "keel::block::pack: the element is not a number (arithmetic is done "
                                         "on each). Use an array of structs instead.");

  using value_type = T;

  static constexpr std::size_t alignment = detail::alignment_of_pack<T, Length>;
  alignas(alignment) T values[Length];

  [[nodiscard]] KEEL_FUNCTION static constexpr std::size_t size() { return Length; }

  /// Every element `value`.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack filled(T value) {
    return detail::uniform<pack>(value);
  }
  /// 0, 1, 2 and so on, from `begin` on.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack counted(T begin = T{0}) {
    return detail::made<pack>([begin](std::size_t i) { return static_cast<T>(begin + static_cast<T>(i)); });
  }

  /// The `Length` values from `source` on, which need not be aligned.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack load(T const* source) {
    return detail::loaded<pack>(source);
  }
  /// The `Length` values from `source` on, `stride` elements apart.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack load_strided(T const* source,
                                                                                   std::ptrdiff_t stride) {
    return detail::made<pack>([=](std::size_t i) { return source[std::ptrdiff_t(i) * stride]; });
  }
  /// The first `count` values from `source` on and `rest` after them; reads no further.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack load(T const* source, std::size_t count,
                                                                           T rest = T{}) {
    return detail::loaded<pack>(source, count, rest);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* target) const { detail::stored(*this, target); }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store_strided(T* target, std::ptrdiff_t stride) const {
    for (std::size_t i = 0; i < Length; ++i) target[std::ptrdiff_t(i) * stride] = values[i];
  }
  /// Writes the first `count` values, no more than `Length`.
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* target, std::size_t count) const {
    detail::stored(*this, target, count);
  }
  /// `=`, register by register: for what a loop carries from turn to turn, which g++ 12 else copies in halves of a
  /// register, and waits for.
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void assign(pack const& other) { other.store(values); }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator+=(pack const& b) { return assign(*this + b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator-=(pack const& b) { return assign(*this - b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator*=(pack const& b) { return assign(*this * b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator/=(pack const& b) { return assign(*this / b), *this; }

  /// `f` of each element.
  KEEL_CALLS_USER
  template <class Batch = T, class F>
    requires std::is_same_v<Batch, T>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack map(F const& f) const {
    pack out{}; // not in a lambda, which nvcc takes for a function of both sides
    for (std::size_t i = 0; i < Length; ++i) out.values[i] = static_cast<T>(f(values[i]));
    return out;
  }
  /// `f` of `Batch`es of elements, of a type of another library, such as xsimd's `batch<double>`, on the host. The last
  /// one is filled up with an element that it has, so the bits of an element depend neither on its place nor on the
  /// length.
  template <class Batch, class F>
    requires(!std::is_same_v<Batch, T>)
  [[nodiscard]] KEEL_FORCE_INLINE constexpr pack map(F const& f) const {
    constexpr std::size_t width = sizeof(Batch) / sizeof(T), whole = Length / width * width;
    pack out;
    for (std::size_t i = 0; i + width <= Length; i += width)
      f(Batch::load_unaligned(values + i)).store_unaligned(out.values + i);
    if constexpr (whole < Length) {
      T last[width];
      for (std::size_t e = 0; e < width; ++e) last[e] = values[whole + e < Length ? whole + e : whole];
      f(Batch::load_unaligned(last)).store_unaligned(last);
      for (std::size_t e = 0; whole + e < Length; ++e) out.values[whole + e] = last[e];
    }
    return out;
  }

  [[nodiscard]] KEEL_FUNCTION constexpr T& operator[](std::size_t i) { return values[i]; }
  [[nodiscard]] KEEL_FUNCTION constexpr T const& operator[](std::size_t i) const { return values[i]; }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(pack const& a, pack const& b) {
    return detail::each(detail::plus{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a, pack const& b) {
    return detail::each(detail::minus{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(pack const& a, pack const& b) {
    return detail::each(detail::times{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(pack const& a, pack const& b) {
    return detail::each(detail::over{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a) {
    return detail::each(detail::negative{}, a);
  }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(pack const& a, T b) { return a + filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a, T b) { return a - filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(pack const& a, T b) { return a * filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(pack const& a, T b) { return a / filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(T a, pack const& b) { return filled(a) + b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(T a, pack const& b) { return filled(a) - b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(T a, pack const& b) { return filled(a) * b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(T a, pack const& b) { return filled(a) / b; }

  /// Whether all elements are equal.
  [[nodiscard]] friend constexpr bool operator==(pack const&, pack const&) = default;

  /// Element by element the smaller, and the larger.
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack min(pack const& a, pack const& b) {
    return detail::each(detail::smaller{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack max(pack const& a, pack const& b) {
    return detail::each(detail::larger{}, a, b);
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
