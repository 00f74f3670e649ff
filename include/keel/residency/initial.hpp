// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Values of elements that a mesh gets while a program runs.

#include <keel/layout/variable.hpp>
#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::residency {

/// With `repartition`: what elements of `X` get that no rank has owned before, in all levels and components.
/// `initial<h>{0.0}` is one number for all. `initial<h>{view}` is a view on the host, or `initial<h>{span}` of a
/// variable without further dimensions, of which row `i` is for the owned element `i` of the new partition; rows of
/// elements that are not new are not read. It lives as long as the call.
template <Variable X>
class initial {
  using data = typename Kokkos::ViewTraits<typename X::data_type>::const_data_type;
  using rows_type =
      Kokkos::View<data, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

public:
  using variable = X;
  using element = typename rows_type::non_const_value_type;

  template <std::convertible_to<element> T>
  explicit initial(T const& one) : one_(static_cast<element>(one)) {}
  template <class View>
    requires Kokkos::is_view<View>::value
  explicit initial(View const& rows) : has_rows_(true) {
    static_assert(std::is_same_v<typename View::non_const_value_type, element> &&
                      int(View::rank) == int(rows_type::rank),
                  "keel::residency::initial: the view has other elements or dimensions than the variable. Give one of "
                  "its type.");
    static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible,
                  "keel::residency::initial: the view is not on the host. Give a copy that is.");
    Kokkos::LayoutStride lies;
    for (int d = 0; d < int(rows_type::rank); ++d)
      lies.dimension[d] = rows.extent(unsigned(d)), lies.stride[d] = rows.stride(unsigned(d));
    rows_ = rows_type(rows.data(), lies);
  }
  explicit initial(std::span<element const> rows)
    requires(int(rows_type::rank) == 1)
      : rows_(rows.data(), Kokkos::LayoutStride(rows.size(), 1)), has_rows_(true) {}

  [[nodiscard]] element const& one() const { return one_; }
  [[nodiscard]] bool has_rows() const { return has_rows_; }
  /// The rows in an array of this type. Throws `keel::error` if their further dimensions are not those of the variable.
  template <class Array>
  [[nodiscard]] std::pair<std::shared_ptr<void>, std::size_t> rows_as(std::size_t const* extents) const {
    typename Array::array_layout lengths;
    for (int d = 0; d < int(Array::rank_dynamic); ++d) {
      lengths.dimension[d] = rows_.extent(unsigned(d));
      if (d > 0 && lengths.dimension[d] != extents[d])
        throw error("residency::initial",
                    "the rows of " + std::string(X::about.name) + " have " + std::to_string(lengths.dimension[d]) +
                        " elements in dimension " + std::to_string(d),
                    "the variable has " + std::to_string(extents[d]), "Give as many");
    }
    auto const copy = std::make_shared<Array>("keel: initial values", lengths);
    Kokkos::deep_copy(*copy, rows_);
    return {{copy, copy->data()}, rows_.extent(0)};
  }

private:
  element one_{};
  rows_type rows_;
  bool has_rows_ = false;
};

namespace detail {
template <class T>
inline constexpr bool is_initial = false;
template <Variable X>
inline constexpr bool is_initial<initial<X>> = true;
} // namespace detail

} // namespace keel::residency
