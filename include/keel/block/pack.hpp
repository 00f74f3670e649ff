// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A few values that are computed with as one. Depends only on the standard library.

#include <keel/block/mask.hpp>
#include <keel/impl/block/element_wise.hpp>
#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>
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
  using mask_type = mask<Length, T>;

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
    return detail::loaded_part<pack>(source, count, rest);
  }
  /// The values whose mask says yes and `rest` for the others, which are not read.
  [[nodiscard]] KEEL_FUNCTION static constexpr pack load(T const* source, mask_type const& which, T rest = T{}) {
    pack p{};
    for (std::size_t i = 0; i < Length; ++i) p.values[i] = which[i] ? source[i] : rest;
    return p;
  }
  /// `source[index[i]]` for each element; with a mask only those that it says yes for are read.
  template <std::integral Index>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr pack gather(T const* source,
                                                                             pack<Index, Length> const& index) {
    return detail::made<pack>([&](std::size_t i) { return source[index.values[i]]; });
  }
  template <std::integral Index>
  [[nodiscard]] KEEL_FUNCTION static constexpr pack gather(T const* source, pack<Index, Length> const& index,
                                                           mask_type const& which, T rest = T{}) {
    return detail::made<pack>([&](std::size_t i) { return which[i] ? source[index.values[i]] : rest; });
  }

  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* target) const { detail::stored(*this, target); }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store_strided(T* target, std::ptrdiff_t stride) const {
    for (std::size_t i = 0; i < Length; ++i) target[std::ptrdiff_t(i) * stride] = values[i];
  }
  /// Writes the first `count` values, no more than `Length`.
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* target, std::size_t count) const {
    detail::stored_part(*this, target, count);
  }
  /// Writes the values whose mask says yes, and touches nothing else.
  KEEL_FUNCTION constexpr void store(T* target, mask_type const& which) const {
    for (std::size_t i = 0; i < Length; ++i)
      if (which[i]) target[i] = values[i];
  }
  /// `target[index[i]]` becomes element `i`, from the first to the last: of equal indices the last one stays.
  template <std::integral Index>
  KEEL_FUNCTION constexpr void scatter(T* target, pack<Index, Length> const& index) const {
    for (std::size_t i = 0; i < Length; ++i) target[index.values[i]] = values[i];
  }
  template <std::integral Index>
  KEEL_FUNCTION constexpr void scatter(T* target, pack<Index, Length> const& index, mask_type const& which) const {
    for (std::size_t i = 0; i < Length; ++i)
      if (which[i]) target[index.values[i]] = values[i];
  }

  /// `=`, register by register: for what a loop carries from turn to turn, which g++ 12 else copies in halves of a
  /// register, and waits for.
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void assign(pack const& other) { other.store(values); }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator+=(pack const& b) { return assign(*this + b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator-=(pack const& b) { return assign(*this - b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator*=(pack const& b) { return assign(*this * b), *this; }
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack& operator/=(pack const& b) { return assign(*this / b), *this; }

  [[nodiscard]] KEEL_FUNCTION constexpr T& operator[](std::size_t i) { return values[i]; }
  [[nodiscard]] KEEL_FUNCTION constexpr T const& operator[](std::size_t i) const { return values[i]; }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(pack const& a, pack const& b) {
    return detail::each<pack>(detail::plus{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a, pack const& b) {
    return detail::each<pack>(detail::minus{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(pack const& a, pack const& b) {
    return detail::each<pack>(detail::times{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(pack const& a, pack const& b) {
    return detail::each<pack>(detail::over{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a) {
    return detail::each<pack>(detail::negative{}, a);
  }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(pack const& a, T b) { return a + filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(pack const& a, T b) { return a - filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(pack const& a, T b) { return a * filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(pack const& a, T b) { return a / filled(b); }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator+(T a, pack const& b) { return filled(a) + b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator-(T a, pack const& b) { return filled(a) - b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator*(T a, pack const& b) { return filled(a) * b; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack operator/(T a, pack const& b) { return filled(a) / b; }

  /// Which elements compare so; `all` and `any` make one answer of them.
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator==(pack const& a, pack const& b) {
    return detail::each<mask_type>(detail::equal{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator!=(pack const& a, pack const& b) {
    return !(a == b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator<(pack const& a, pack const& b) {
    return detail::each<mask_type>(detail::less{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator<=(pack const& a, pack const& b) {
    return detail::each<mask_type>(detail::less_or_equal{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator>(pack const& a, pack const& b) { return b < a; }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask_type operator>=(pack const& a, pack const& b) { return b <= a; }

  /// Element by element the smaller, and the larger.
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack min(pack const& a, pack const& b) {
    return detail::each<pack>(detail::smaller{}, a, b);
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr pack max(pack const& a, pack const& b) {
    return detail::each<pack>(detail::larger{}, a, b);
  }
};

/// `yes` in the elements that the mask names, `no` in the others.
template <class T, std::size_t Length, class U>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack<T, Length>
select(mask<Length, U> const& which, pack<T, Length> const& yes, pack<T, Length> const& no) {
  return detail::each<pack<T, Length>>(detail::choice{}, which.template of<T>(), yes, no);
}

/// The sum of all elements, from the first to the last, so that the bits do not depend on the compiler.
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T sum(pack<T, Length> const& p) {
  T total = p[0];
  for (std::size_t i = 1; i < Length; ++i) total = static_cast<T>(total + p[i]);
  return total;
}
/// The sum of those that the mask says yes for, in the same order; 0 without any.
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T sum(pack<T, Length> const& p, mask<Length, T> const& which) {
  T total{0};
  for (std::size_t i = 0; i < Length; ++i)
    if (which[i]) total = static_cast<T>(total + p[i]);
  return total;
}
/// The product, the smallest and the largest of all elements, from the first to the last.
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T product(pack<T, Length> const& p) {
  T total = p[0];
  for (std::size_t i = 1; i < Length; ++i) total = static_cast<T>(total * p[i]);
  return total;
}
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T smallest(pack<T, Length> const& p) {
  T found = p[0];
  for (std::size_t i = 1; i < Length; ++i) found = p[i] < found ? p[i] : found;
  return found;
}
template <class T, std::size_t Length>
[[nodiscard]] KEEL_FUNCTION constexpr T largest(pack<T, Length> const& p) {
  T found = p[0];
  for (std::size_t i = 1; i < Length; ++i) found = found < p[i] ? p[i] : found;
  return found;
}

} // namespace keel::block
