// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A view of Kokkos read in packs: another view over the same memory, whose elements are packs.

#include <keel/block/pack.hpp>
#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace keel::block {

namespace detail {

template <class T, std::size_t Rank>
struct pointer_of_rank {
  using type = typename pointer_of_rank<T, Rank - 1>::type*;
};
template <class T>
struct pointer_of_rank<T, 0> {
  using type = T;
};

/// The index along which the elements of a view are neighbours.
template <class View>
inline constexpr std::size_t contiguous_index =
    std::is_same_v<typename View::array_layout, Kokkos::LayoutRight> ? std::size_t(View::rank) - 1 : 0;

/// What keeps `view` from being read in packs of `Length`; empty if nothing does. `padded` is the extent along the
/// contiguous index, in whole packs.
template <std::size_t Length, class View>
[[nodiscard]] std::string unfit_for_packs(View const& view, std::size_t padded) {
  using T = typename View::non_const_value_type;
  constexpr std::size_t rank = std::size_t(View::rank), along = contiguous_index<View>;
  if (reinterpret_cast<std::uintptr_t>(view.data()) % alignof(pack<T, Length>) != 0)
    return "its memory is not aligned to " + std::to_string(alignof(pack<T, Length>)) + " bytes";
  std::size_t needed = padded;
  for (std::size_t d = 0; d < rank; ++d) {
    auto const extent = std::size_t(view.extent(d)), stride = std::size_t(view.stride(d));
    if (extent == 0) return {};
    if (d == along) {
      if (stride != 1 && extent > 1) return "its elements are " + std::to_string(stride) + " apart";
    } else if (extent > 1) {
      needed += (extent - 1) * stride;
      if (stride % Length != 0 || stride < padded)
        return "index " + std::to_string(d) + " moves on by " + std::to_string(stride) + " elements, which is " +
               (stride < padded ? "less than the extent in whole packs, " + std::to_string(padded) : "not a multiple");
    }
  }
  if (needed > std::size_t(view.span()))
    return "the last pack ends at element " + std::to_string(needed) + " of " + std::to_string(view.span());
  return {};
}

} // namespace detail

/// `view` in packs of `Length` along its contiguous index, without a copy. The last pack of a row holds elements of the
/// padding if the length does not divide the extent: arithmetic on them is harmless, reductions must leave them out.
///
/// Throws if a pack would be misaligned, or reach beyond a row or beyond the memory. Does not own the memory.
template <std::size_t Length, class View>
  requires Kokkos::is_view<View>::value
[[nodiscard]] auto blocked_view(View const& view) {
  using T = typename View::non_const_value_type;
  using layout = typename View::array_layout;
  static_assert(
      std::is_same_v<layout, Kokkos::LayoutRight> || std::is_same_v<layout, Kokkos::LayoutLeft>,
      "keel::block::blocked_view: the view is neither LayoutRight nor LayoutLeft (its neighbours are not known to "
      "be adjacent). Block the view that it is a part of.");
  static_assert(std::size_t(View::rank) > 0, "keel::block::blocked_view: the view has no index. Load the value.");
  constexpr std::size_t rank = std::size_t(View::rank), along = detail::contiguous_index<View>;
  using element =
      std::conditional_t<std::is_const_v<typename View::value_type>, pack<T, Length> const, pack<T, Length>>;
  using result = Kokkos::View<typename detail::pointer_of_rank<element, rank>::type, Kokkos::LayoutStride,
                              typename View::device_type, Kokkos::MemoryUnmanaged>;

  std::size_t const packs = (std::size_t(view.extent(along)) + Length - 1) / Length;
  if (auto const why = detail::unfit_for_packs<Length>(view, packs * Length); !why.empty())
    throw error(
        "block", "view '" + std::string(view.label()) + "' cannot be read in packs of " + std::to_string(Length), why,
        "Allocate it with Kokkos::AllowPadding, or with extents in whole packs (a variable: keel::residency::padded)");
  Kokkos::LayoutStride shape;
  for (std::size_t d = 0; d < rank; ++d) {
    shape.dimension[d] = d == along ? packs : std::size_t(view.extent(d));
    shape.stride[d] = d == along ? 1 : std::size_t(view.stride(d)) / Length;
  }
  return result(reinterpret_cast<element*>(view.data()), shape);
}

} // namespace keel::block
