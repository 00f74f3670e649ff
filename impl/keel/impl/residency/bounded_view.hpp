// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Views that compare each index with what a checked routine declares.

#include <keel/impl/residency/reach.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/space/kokkos.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// A view that notes the first use of an element beyond the declared ones, and takes the nearest of these instead, so
/// that nothing foreign is touched. What is reached otherwise, by a pointer, a subview or a copy of it as a
/// `Kokkos::View`, is not seen.
template <class View>
struct bounded_view : View {
  using element = typename View::value_type;
  using result = typename View::reference_type;
  static_assert(sizeof(element) <= sizeof(reach::nothing),
                "keel::residency::checked: an element is too large. Leave checked out of `using tracking`.");

  bounded_view(View const& all, reach& declared) : View(all), limits_(&declared) {}

  template <std::integral... I>
    requires(sizeof...(I) == View::rank)
  KEEL_FUNCTION result operator()(I... i) const {
    return at(std::make_index_sequence<sizeof...(I)>{}, i...);
  }
  template <std::integral I>
  KEEL_FUNCTION result operator[](I i) const {
    return (*this)(i);
  }

private:
  template <std::size_t... D, class... I>
  KEEL_FUNCTION result at(std::index_sequence<D...>, I... i) const {
    if ((limits_->has(D, std::int64_t(i)) && ...)) return View::operator()(i...);
    if (Kokkos::atomic_compare_exchange(&limits_->is_exceeded, 0, 1) == 0)
      ((void)(limits_->used[D] = std::int64_t(i)), ...);
    if (((limits_->begin[D] >= limits_->end[D]) || ...)) return *reinterpret_cast<element*>(limits_->nothing);
    return View::operator()(limits_->nearest(D, std::int64_t(i))...);
  }

  reach* limits_;
};

/// Whether routines on the device get such views where the application may be checked.
template <class App, class Tag>
inline constexpr bool may_bound = tracking_of<App>::may_check && (is_on_host<Tag> || is_simulated<Tag>);

} // namespace keel::residency::detail

/// It is one, to libraries of kernels that ask.
template <class View>
struct Kokkos::is_view<keel::residency::detail::bounded_view<View>> : std::true_type {};
