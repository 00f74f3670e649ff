// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a loop over columns hands to its body: a few neighbouring columns. Depends only on the standard library: a
/// field is anything with `data()`, `extent(r)` and `stride(r)`, such as a view of Kokkos.

#include <keel/block/pack.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::block {

/// An array of `Rank` indices that lies in memory in some order.
template <class View, std::size_t Rank>
concept Field = requires(View const& v) {
  v.data();
  v.extent(0);
  v.stride(0);
} && std::size_t(View::rank) == Rank;

namespace detail {

/// A field whose indices have type `std::size_t`, as those of `std::mdspan`. Views of Kokkos take each type, others
/// `int`.
template <class View>
concept CountedInSizes = requires(View const& v, std::size_t r) { v.stride({r}); }; // braces do not narrow

KEEL_CALLS_USER
template <class View>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto stride_of(View const& v, std::size_t r) {
  if constexpr (CountedInSizes<View>) return v.stride(r);
  else return v.stride(int(r));
}
KEEL_CALLS_USER
template <class View>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr auto extent_of(View const& v, std::size_t r) {
  if constexpr (CountedInSizes<View>) return v.extent(r);
  else return v.extent(int(r));
}

} // namespace detail

/// `Length` neighbouring columns, the first one at `first`, the others after it along one horizontal index; the first
/// `count` of them are meant.
template <std::size_t Horizontal, std::size_t Length, bool Whole>
struct column_block {
  std::size_t first[Horizontal];
  std::size_t along; ///< the horizontal index in which the columns of this block differ
  std::size_t count;

  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t size() const { return Whole ? Length : count; }
  /// Horizontal index `d` of column `c` of this block, c < `size()`.
  [[nodiscard]] KEEL_FUNCTION constexpr std::size_t index(std::size_t d, std::size_t c = 0) const {
    return first[d] + (d == along ? c : 0);
  }

  /// The columns `by` further along horizontal index `d`: the neighbours that a stencil reads. They have to exist.
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr column_block shifted(std::size_t d, std::ptrdiff_t by) const {
    column_block other = *this;
    KEEL_UNROLL
    for (std::size_t e = 0; e < Horizontal; ++e) // by constant indices, so that the block stays in registers
      other.first[e] = e == d ? std::size_t(std::ptrdiff_t(first[e]) + by) : first[e];
    return other;
  }

  /// The values of these columns at index `k` along them; without `k` those of a field of only horizontal indices.
  /// Elements that are no column repeat the first one, so that no other memory is read and no division fails.
  template <class View, class... K>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION auto load(View const& field, K... k) const {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(field.data())>>;
    T const* const source = at(field, k...);
    if constexpr (Whole) {
      if (in_registers && is_adjacent(field)) return pack<T, Length>::load(source);
      return pack<T, Length>::load_strided(source, across(field));
    } else {
      auto const stride = across(field);
      pack<T, Length> p{};
      for (std::size_t c = 0; c < Length; ++c) p[c] = source[std::ptrdiff_t(c < count ? c : 0) * stride];
      return p;
    }
  }

  /// Writes the values of these columns, and of no other.
  template <class View, class T, class... K>
  KEEL_FORCE_INLINE KEEL_FUNCTION void store(View const& field, pack<T, Length> const& values, K... k) const {
    T* const target = at(field, k...);
    if constexpr (Whole) {
      if (in_registers && is_adjacent(field)) values.store(target);
      else values.store_strided(target, across(field));
    } else {
      auto const stride = across(field);
      for (std::size_t c = 0; c < count; ++c) target[std::ptrdiff_t(c) * stride] = values[c];
    }
  }

  /// Where the value of the first of these columns lies at index `k` along it.
  KEEL_CALLS_USER
  template <class View, class... K>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION auto* at(View const& field, K... k) const {
    static_assert(
        std::size_t(View::rank) == Horizontal + sizeof...(K),
        "keel::block::column_block: the field has another number of indices (one for each horizontal index, and "
        "one for each further argument). Leave the level out.");
    std::ptrdiff_t offset = 0;
    for (std::size_t d = 0; d < Horizontal; ++d)
      offset += std::ptrdiff_t(first[d] * std::size_t(detail::stride_of(field, d)));
    [[maybe_unused]] std::size_t d = Horizontal;
    ((offset += std::ptrdiff_t(std::size_t(k) * std::size_t(detail::stride_of(field, d++)))), ...);
    return field.data() + offset;
  }

private:
  /// Neighbouring values are one access in vector registers. A thread of a GPU has none; there the columns of a block
  /// lie along the slower index.
  static constexpr bool in_registers = !KEEL_ON_ACCELERATOR;

  /// Whether these columns are neighbours in the memory of `field`.
  template <class View>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION bool is_adjacent(View const& field) const {
    return Length == 1 || detail::stride_of(field, along) == 1;
  }
  template <class View>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION std::ptrdiff_t across(View const& field) const {
    auto stride = std::ptrdiff_t(detail::stride_of(field, 0));
    for (std::size_t d = 1; d < Horizontal; ++d)
      if (d == along) stride = std::ptrdiff_t(detail::stride_of(field, d)); // d is a constant: no branch
    return stride;
  }
};

} // namespace keel::block
