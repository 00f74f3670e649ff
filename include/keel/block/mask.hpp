// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of a pack are meant. Depends only on the standard library.

#include <keel/impl/block/registers.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>

namespace keel::block {

/// `Length` answers, yes or no, one for each element of a pack of `T`. Each is as wide as a `T`, as comparisons of
/// vector registers give them.
template <std::size_t Length, class T = double>
struct mask {
  static_assert(Length > 0, "keel::block::mask: the length is 0 (a pack holds at least one element). "
                            "Use keel::block::length.");

  using lane = detail::lane<T>;

  alignas(detail::alignment_of_pack<T, Length>) lane lanes[Length]; ///< 0 or -1

  [[nodiscard]] KEEL_FUNCTION static constexpr std::size_t size() { return Length; }

  [[nodiscard]] KEEL_FUNCTION static constexpr mask filled(bool value) { return first(value ? Length : 0); }
  /// Yes for the first `count` elements.
  [[nodiscard]] KEEL_FUNCTION static constexpr mask first(std::size_t count) {
    mask m{};
    for (std::size_t i = 0; i < Length; ++i) m.set(i, i < count);
    return m;
  }

  [[nodiscard]] KEEL_FUNCTION constexpr bool operator[](std::size_t i) const { return lanes[i] != 0; }
  KEEL_FUNCTION constexpr void set(std::size_t i, bool value) { lanes[i] = static_cast<lane>(value ? -1 : 0); }

  /// These answers for packs of another element.
  template <class U>
  [[nodiscard]] KEEL_FUNCTION constexpr mask<Length, U> of() const {
    mask<Length, U> m{};
    for (std::size_t i = 0; i < Length; ++i) m.lanes[i] = static_cast<detail::lane<U>>(lanes[i]);
    return m;
  }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask operator!(mask m) {
    for (auto& l : m.lanes) l = static_cast<lane>(~l);
    return m;
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask operator&(mask a, mask const& b) {
    for (std::size_t i = 0; i < Length; ++i) a.lanes[i] = static_cast<lane>(a.lanes[i] & b.lanes[i]);
    return a;
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask operator|(mask a, mask const& b) {
    for (std::size_t i = 0; i < Length; ++i) a.lanes[i] = static_cast<lane>(a.lanes[i] | b.lanes[i]);
    return a;
  }
  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr mask operator^(mask a, mask const& b) {
    for (std::size_t i = 0; i < Length; ++i) a.lanes[i] = static_cast<lane>(a.lanes[i] ^ b.lanes[i]);
    return a;
  }

  /// How many elements say yes.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr std::size_t count(mask const& m) {
    std::size_t n = 0;
    for (auto l : m.lanes) n += l != 0;
    return n;
  }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr bool all(mask const& m) { return count(m) == Length; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr bool any(mask const& m) { return count(m) != 0; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr bool none(mask const& m) { return count(m) == 0; }

  KEEL_FORCE_INLINE KEEL_FUNCTION friend constexpr bool operator==(mask const& a, mask const& b) { return none(a ^ b); }
};

} // namespace keel::block
