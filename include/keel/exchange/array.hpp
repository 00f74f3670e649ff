// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Arrays that belong to the application, as an exchanger takes them: views, or pointers with extents and strides.

#include <keel/impl/exchange/array_ref.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/layout/variable.hpp>
#include <keel/space/kokkos.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace keel::residency {

/// Numbers of the indices of an array that count the dimensions of the grid: of `q(var, k, j, i)` with i along the
/// first dimension `index{3, 2, 1}`. On a mesh the one that counts elements. Without it the first indices do, in order.
struct index {
  std::array<std::int8_t, max_grid_rank> of_array{};
  int given = 0;

  template <std::integral... I>
    requires(sizeof...(I) >= 1 && sizeof...(I) <= std::size_t{max_grid_rank})
  constexpr explicit index(I... n) : of_array{std::int8_t(n)...}, given(sizeof...(I)) {}
};
/// The extents of an array that a pointer is to; and how many elements further the next one lies along each index:
/// those of C's arrays, the last index fastest, if there are none.
struct extents {
  std::array<std::int64_t, max_rank> of_array{};
  int given = 0;

  template <std::integral... I>
    requires(sizeof...(I) <= std::size_t{max_rank})
  constexpr explicit extents(I... n) : of_array{std::int64_t(n)...}, given(sizeof...(I)) {}
};
struct strides : extents {
  using extents::extents;
};
/// How many layers of ghosts, the nearest first; in an exchange of several arrays those of all that do not say it.
struct depth_of {
  int layers;
};

namespace detail {

template <class V>
concept KokkosView = Kokkos::is_view<V>::value;

template <class T>
void set_element(array_ref& a) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16,
                "keel::residency::exchanger: elements that cannot travel as bytes, or have more than 16 of them (the "
                "type is in the message). Exchange their parts.");
  static_assert(!std::is_const_v<T>,
                "keel::residency::exchanger: an array of const elements (ghosts are written). Take "
                "the other view.");
  a.element_bytes = sizeof(T), a.alignment = alignof(T), a.added_as = addend_of<T>;
}

template <KokkosView V>
[[nodiscard]] array_ref ref_of(V const& view) {
  static_assert(int(V::rank) >= 1, "keel::residency::exchanger: a view without an index. Exchange arrays.");
  array_ref made;
  set_element<typename V::value_type>(made);
  if constexpr (std::is_const_v<typename V::value_type>) return made;
  else {
    made.data = view.data();
    made.rank = int(V::rank);
    for (int d = 0; d < made.rank; ++d)
      made.extents[d] = std::int64_t(view.extent(std::size_t(d))), made.strides[d] = std::int64_t(view.stride(d));
    made.where = memory_of_space<typename V::execution_space, typename V::memory_space>();
    return made;
  }
}
template <class T>
[[nodiscard]] array_ref ref_of(T* data) {
  array_ref made;
  set_element<T>(made);
  made.data = data;
  return made;
}

template <class Option>
void set(array_ref& a, [[maybe_unused]] Option const& option) {
  if constexpr (std::is_same_v<Option, index>) a.index_of = option.of_array, a.indexed = option.given;
  else if constexpr (std::is_same_v<Option, depth_of>) a.layers = option.layers, a.says_layers = true;
  else if constexpr (!std::is_base_of_v<extents, Option>)
    static_assert(is_property<Option>,
                  "keel::residency: what follows an array says nothing of it (it is in the message). "
                  "Say index, extents, strides, depth_of, at, along, ghosts or sign.");
}

/// What options say of how a pointer's array lies.
template <class... Options>
void set_lengths(array_ref& of, Options const&... options) {
  constexpr auto numbers = [](auto const& given) {
    return std::span<std::int64_t const>(given.of_array.data(), std::size_t(given.given));
  };
  extents lengths;
  strides steps;
  [[maybe_unused]] auto const look = [&]<class O>(O const& option) {
    if constexpr (std::is_same_v<O, strides>) steps = option;
    else if constexpr (std::is_same_v<O, extents>) lengths = option;
  };
  (look(options), ...);
  of.set(numbers(lengths), numbers(steps));
}

/// The array of a view or pointer with these options.
template <class A, class... Options>
[[nodiscard]] array_ref ref_with(A const& a, lattice const& on, Options const&... options) {
  array_ref made = ref_of(a);
  made.on = on;
  (set(made, options), ...);
  if constexpr (std::is_pointer_v<A>) set_lengths(made, options...);
  else
    static_assert(!(std::is_base_of_v<extents, Options> || ...),
                  "keel::residency: a view is given extents or strides (it has some). Leave them out.");
  return made;
}

} // namespace detail

/// An array of any type, rank and place, as `array_on` and `array` make it. A code that knows at run time which arrays
/// it exchanges keeps a list, such as a `std::vector<any_array>`. Does not hold what it shows.
using any_array = detail::array_ref;

/// An array on a mesh: a view of any rank and layout, or a pointer to memory of the host with `extents{…}` and maybe
/// `strides{…}`; `index{n}` if elements are not counted by its first index, `depth_of{n}` for the first layers only.
/// The extent there may be larger than the number of elements.
template <Mesh M, class A, class... Options>
[[nodiscard]] any_array array_on(A const& view_or_pointer, Options const&... options) {
  return detail::ref_with(view_or_pointer, detail::lattice_on<M>(), options...);
}
/// An array on the grid, ghosts included, likewise; `at<…>{}`, `along<…>{}` and `ghosts<…>{}` are as those of a
/// variable.
template <class A, class... Options>
[[nodiscard]] any_array array(A const& view_or_pointer, Options const&... options) {
  return detail::ref_with(view_or_pointer, detail::about_of<Options...>("", true).on, options...);
}

namespace detail {

template <KokkosView V>
inline constexpr bool is_of_device =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible;

/// A list of arrays whose length is known at run time.
template <class A>
concept ArrayList = !std::is_same_v<A, array_ref> && std::convertible_to<A const&, std::span<array_ref const>>;

template <class A>
[[nodiscard]] consteval bool may_be_on_device() {
  if constexpr (KokkosView<A>) return is_of_device<A>;
  else return ArrayList<A> || std::is_same_v<A, array_ref>;
}

/// What an exchanger is given: arrays or lists of them, and maybe a depth for those that do not say it. `AsPlanned`:
/// views and pointers, too, whose places are those of a plan.
template <bool AsPlanned, class... Arrays>
[[nodiscard]] auto refs_of(Arrays const&... arrays) {
  constexpr bool has_list = (ArrayList<Arrays> || ...);
  std::conditional_t<has_list, std::vector<array_ref>,
                     std::array<array_ref, (0 + ... + (std::is_same_v<Arrays, depth_of> ? 0 : 1))>>
      all;
  std::size_t count = 0;
  auto const put = [&](array_ref const& one) {
    if constexpr (has_list) all.push_back(one);
    else all[count] = one;
    ++count;
  };
  auto const look = [&]<class A>(A const& a) {
    if constexpr (std::is_same_v<A, depth_of>) {
      for (std::size_t n = 0; n < count; ++n)
        if (!all[n].says_layers) set(all[n], a);
    } else if constexpr (ArrayList<A>) {
      for (array_ref const& one : std::span<array_ref const>(a)) put(one);
    } else {
      static_assert(AsPlanned || std::is_same_v<A, array_ref>,
                    "keel::residency::exchanger: an array without its place (it is in the "
                    "message). Say array_on<mesh>(...), or array(...) on the grid.");
      if constexpr (std::is_same_v<A, array_ref>) put(a);
      else if constexpr (AsPlanned) put(ref_of(a));
    }
  };
  (look(arrays), ...);
  return all;
}

} // namespace detail

} // namespace keel::residency
