// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A list of types without values, made from any variadic template of types.

#include <boost/hana/type.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace keel {

/// A list of types; an empty value that costs nothing to pass.
template <class... Ts>
struct list {
  static constexpr std::size_t size = sizeof...(Ts);
};

namespace policy {

namespace detail {

template <class T>
struct unwrapped {
  using type = T;
};
template <class T>
  requires requires { typename T::type; } && std::derived_from<T, boost::hana::basic_type<typename T::type>>
struct unwrapped<T> {
  using type = typename T::type;
};

template <class L>
struct as_list {};
template <template <class...> class L, class... Ts>
struct as_list<L<Ts...>> {
  using type = keel::list<typename unwrapped<Ts>::type...>;
};

template <class L>
struct list_traits;
template <class... Ts>
struct list_traits<keel::list<Ts...>> {
  template <class T>
  static constexpr std::size_t count = (std::size_t{std::same_as<T, Ts>} + ... + 0);

  template <class T>
  static constexpr std::size_t index = [] {
    std::size_t at = 0;
    (void)((std::same_as<T, Ts> ? false : (++at, true)) && ...);
    return at;
  }();

  static constexpr bool unique = ((count<Ts> == 1) && ...);
};

template <class... Lists>
struct joined {
  using type = keel::list<>;
};
template <class... As>
struct joined<keel::list<As...>> {
  using type = keel::list<As...>;
};
template <class... As, class... Bs, class... Rest>
struct joined<keel::list<As...>, keel::list<Bs...>, Rest...> : joined<keel::list<As..., Bs...>, Rest...> {};

template <class L, template <class> class Keep>
struct filtered;
template <class... Ts, template <class> class Keep>
struct filtered<keel::list<Ts...>, Keep>
    : joined<std::conditional_t<Keep<Ts>::value, keel::list<Ts>, keel::list<>>...> {};

} // namespace detail

/// `keel::list<Tags...>` of any variadic list of types: `std::tuple`, `keel::list`,
/// another library's `List<...>`, or `decltype(hana::tuple_t<...>)`, whose wrapped
/// types are unwrapped. References and `const` on the list are dropped.
template <class L>
using to_list = typename detail::as_list<std::remove_cvref_t<L>>::type;

/// A type that `to_list` accepts.
template <class L>
concept TypeList = requires { typename to_list<L>; };

template <TypeList L>
inline constexpr std::size_t size = to_list<L>::size;

/// Whether `T` stands in `L`.
template <TypeList L, class T>
inline constexpr bool contains = detail::list_traits<to_list<L>>::template count<T> != 0;

/// Position of the first `T` in `L`; `size<L>` if there is none.
template <TypeList L, class T>
inline constexpr std::size_t index_of = detail::list_traits<to_list<L>>::template index<T>;

/// Whether no type stands in `L` twice.
template <TypeList L>
inline constexpr bool is_unique = detail::list_traits<to_list<L>>::unique;

/// The types of `L` for which `Keep<T>::value` holds, in their order.
template <TypeList L, template <class> class Keep>
using filter = typename detail::filtered<to_list<L>, Keep>::type;

} // namespace policy
} // namespace keel
