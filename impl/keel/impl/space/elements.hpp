// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Views whose elements are objects of the resource instead of references.
///
/// Until 4.6, and after if it was built so, Kokkos chooses what a view gives by a handle of its data; from 4.7 on by
/// an accessor of its span. Views with traits such as `Atomic` keep what Kokkos gives them.

#include <keel/space/memory.hpp>

#include <cstddef>
#include <type_traits>

namespace keel::space::detail {

template <class M>
inline constexpr bool has_elements = false;
template <class R>
  requires requires(int* at) {
    { typename R::template element<int>{at} };
  }
inline constexpr bool has_elements<memory<R>> = true;

/// The rank of a view: a function since Kokkos 4, a constant before.
template <class View>
constexpr int rank_of() {
  if constexpr (requires { View::rank(); }) return int(View::rank());
  else return int(View::rank);
}

/// The first element of a view.
template <class T, class Element>
struct element_handle {
  T* first = nullptr;

  element_handle() = default;
  KOKKOS_FUNCTION explicit element_handle(T* at) : first(at) {}
  template <class Other, class E>
    requires std::is_convertible_v<Other (*)[], T (*)[]>
  KOKKOS_FUNCTION element_handle(element_handle<Other, E> const& other) : first(other.first) {}

  template <class Index>
  KOKKOS_FUNCTION Element operator[](Index i) const {
    return Element{first + i};
  }
  KOKKOS_FUNCTION operator T*() const { return first; }
};

#if KOKKOS_VERSION >= 40700 && !defined(KOKKOS_ENABLE_IMPL_VIEW_LEGACY)

/// An accessor in the sense of `std::mdspan`.
template <class T, class Element>
struct element_accessor {
  using element_type = T;
  using reference = Element;
  using data_handle_type = T*;
  using offset_policy = element_accessor;

  constexpr element_accessor() = default;
  template <class Other, class E>
    requires std::is_convertible_v<Other (*)[], T (*)[]>
  KOKKOS_FUNCTION constexpr element_accessor(element_accessor<Other, E> const&) {}
  /// Into an accessor of the same memory with other traits, which Kokkos makes of its plain one.
  template <class Atomic>
    requires std::is_same_v<typename Atomic::data_handle_type, T*> &&
             std::is_constructible_v<Atomic, Kokkos::default_accessor<T>>
  KOKKOS_FUNCTION constexpr operator Atomic() const {
    return Atomic(Kokkos::default_accessor<T>{});
  }

  KOKKOS_FUNCTION constexpr Element access(T* first, std::size_t i) const { return Element{first + i}; }
  KOKKOS_FUNCTION constexpr T* offset(T* first, std::size_t i) const { return first + i; }
};

#endif

} // namespace keel::space::detail

namespace Kokkos::Impl {

/// What Kokkos' own kernels make of a view before they fill or copy it. They forget the memory space of others.
template <class View, int Traits>
  requires keel::space::detail::has_elements<typename View::memory_space>
struct ViewUniformType<View, Traits> {
  template <class Data>
  using of = Kokkos::View<Data, typename View::array_layout, typename View::device_type, MemoryTraits<Traits>>;
  template <class T>
  using sized_later = typename ViewScalarToDataType<T, keel::space::detail::rank_of<View>()>::type;

  using type = of<typename View::data_type>;
  using const_type = of<typename View::const_data_type>;
  using runtime_type = of<sized_later<typename View::value_type>>;
  using runtime_const_type = of<sized_later<typename View::value_type const>>;
  using nomemspace_type = type;
  using const_nomemspace_type = const_type;
  using runtime_nomemspace_type = runtime_type;
  using runtime_const_nomemspace_type = runtime_const_type;
};

#if KOKKOS_VERSION < 40700 || defined(KOKKOS_ENABLE_IMPL_VIEW_LEGACY)

template <class Traits>
  requires(keel::space::detail::has_elements<typename Traits::memory_space> && !Traits::memory_traits::is_atomic &&
           !Traits::memory_traits::is_restrict && !Traits::memory_traits::is_aligned)
struct ViewDataHandle<Traits, void> {
  using value_type = typename Traits::value_type;
  using return_type = typename Traits::memory_space::resource_type::template element<value_type>;
  using handle_type = keel::space::detail::element_handle<value_type, return_type>;
  using track_type = SharedAllocationTracker;

  KOKKOS_FUNCTION static handle_type assign(value_type* first, track_type const&) { return handle_type(first); }
  KOKKOS_FUNCTION static handle_type assign(value_type* first, std::size_t n) { return handle_type(first + n); }
};

#else

template <class T, class Layout, class Execution, class R, class Traits>
  requires(keel::space::detail::has_elements<keel::space::memory<R>> && !Traits::is_atomic)
constexpr auto customize_view_arguments(ViewArguments<T, Layout, Device<Execution, keel::space::memory<R>>, Traits>) {
  using space = keel::space::memory<R>;
  using plain = keel::space::detail::element_accessor<T, typename R::template element<T>>;
  using chosen = std::conditional_t<Traits::is_unmanaged, plain, ReferenceCountedAccessor<T, space, plain>>;
  return ViewCustomArguments<std::size_t, SpaceAwareAccessor<space, chosen>>();
}

/// Kokkos' resize makes an accessor of the extent after the last, which those of some elements need and these do not.
template <class R, class T, class Element, class Mapping>
KOKKOS_FUNCTION constexpr auto accessor_from_mapping_and_accessor_arg(
    AccessorTypeTag<SpaceAwareAccessor<
        keel::space::memory<R>,
        ReferenceCountedAccessor<T, keel::space::memory<R>, keel::space::detail::element_accessor<T, Element>>>> const&,
    Mapping const&, AccessorArg_t const&) {
  using plain = keel::space::detail::element_accessor<T, Element>;
  return SpaceAwareAccessor<keel::space::memory<R>, ReferenceCountedAccessor<T, keel::space::memory<R>, plain>>();
}

#endif

} // namespace Kokkos::Impl
