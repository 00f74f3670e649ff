// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How far a checked routine may reach in an array, and views that compare each index with that.

#include <keel/impl/schedule/memories.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/validity/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace keel::residency::detail {

/// The indices that a routine declares of a level of a variable, and the first that it used beyond them.
struct reach {
  request asked;
  int component = 0, rank = 0;
  std::int64_t begin[max_rank]{}, end[max_rank]{}, used[max_rank]{};
  int is_exceeded = 0;
  alignas(64) std::byte nothing[256]{}; ///< what is read there, if the array has no element

  [[nodiscard]] KEEL_FUNCTION bool has(std::size_t d, std::int64_t i) const { return i >= begin[d] && i < end[d]; }
  [[nodiscard]] KEEL_FUNCTION std::int64_t nearest(std::size_t d, std::int64_t i) const {
    return i < begin[d] ? begin[d] : i < end[d] ? i : end[d] - 1;
  }
};

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

/// Whether routines on the device get such views if the application may be checked.
template <class App, class Tag>
inline constexpr bool may_bound = tracking_of<App>::may_check && (is_on_host<Tag> || is_simulated<Tag>);

} // namespace keel::residency::detail

/// It is one, to libraries of kernels that ask.
template <class View>
struct Kokkos::is_view<keel::residency::detail::bounded_view<View>> : std::true_type {};
