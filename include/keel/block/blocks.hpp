// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a blocked loop hands to its body: full blocks, and one of three kinds of tail. Depends only on the
/// standard library.

#include <keel/block/pack.hpp>
#include <keel/policy/macros.hpp>

#include <concepts>
#include <cstddef>

namespace keel::block {

/// How a loop treats the indices after its last full block.
enum class tail {
  counted, ///< one `tail_block`, whose size is known at run time: for bodies that loop over the indices
  masked,  ///< one `masked_block` as long as the others: for bodies of packs
  scalar,  ///< full blocks of one index each: for bodies of packs, the same for any length
};

/// `Length` consecutive indices from `begin()` on; the number is part of the type, so
/// that a loop over it unrolls and vectorises without a remainder.
template <std::integral Index, std::size_t Length>
struct full_block {
  Index first;
  [[nodiscard]] KEEL_FUNCTION constexpr Index begin() const { return first; }
  [[nodiscard]] KEEL_FUNCTION static constexpr Index size() { return static_cast<Index>(Length); }
  [[nodiscard]] KEEL_FUNCTION constexpr Index end() const { return static_cast<Index>(first + size()); }

  /// `array[begin()]` to `array[end() - 1]`.
  template <class T>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack<T, Length> load(T const* array, T = T{}) const {
    return pack<T, Length>::load(array + first);
  }
  template <class T>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* array, pack<T, Length> const& values) const {
    values.store(array + first);
  }
};

/// The indices left over at the end; fewer than a full block.
template <std::integral Index>
struct tail_block {
  Index first;
  Index count;
  [[nodiscard]] KEEL_FUNCTION constexpr Index begin() const { return first; }
  [[nodiscard]] KEEL_FUNCTION constexpr Index size() const { return count; }
  [[nodiscard]] KEEL_FUNCTION constexpr Index end() const { return static_cast<Index>(first + count); }
};

/// The indices left over at the end, in packs of `Length`: elements after `end()` are neither read nor written.
template <std::integral Index, std::size_t Length>
struct masked_block : tail_block<Index> {
  /// The values at the indices of the block, and `rest` for the other elements, which should let the body pass: a 1 if
  /// it divides.
  template <class T>
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION constexpr pack<T, Length> load(T const* array, T rest = T{}) const {
    return pack<T, Length>::load(array + this->first, std::size_t(this->count), rest);
  }
  template <class T>
  KEEL_FORCE_INLINE KEEL_FUNCTION constexpr void store(T* array, pack<T, Length> const& values) const {
    values.store(array + this->first, std::size_t(this->count));
  }
};

} // namespace keel::block
