// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One value for each type of a list, held by value and found by type.

#include <keel/policy/list.hpp>

#include <boost/hana/at.hpp>
#include <boost/hana/tuple.hpp>

namespace keel::policy {

/// A Hana tuple with one `Element<T>` for each `T` of `List`, made by default and
/// never copied. An `Element` without members costs no storage beyond its place.
/// Host only: Hana's objects do not work in device code.
template <TypeList List, template <class> class Element>
class tuple_of {
public:
  using types = to_list<List>;
  static_assert(is_unique<types>, "keel::policy::tuple_of: a type stands in the list twice "
                                  "(it is found by its type). Remove one.");

  tuple_of() = default;
  tuple_of(tuple_of const&) = delete;
  tuple_of& operator=(tuple_of const&) = delete;

  /// The element that belongs to `T`.
  template <class T>
    requires contains<types, T>
  [[nodiscard]] constexpr Element<T>& get() {
    return boost::hana::at_c<index_of<types, T>>(elements_);
  }
  template <class T>
    requires contains<types, T>
  [[nodiscard]] constexpr Element<T> const& get() const {
    return boost::hana::at_c<index_of<types, T>>(elements_);
  }

private:
  template <class... Ts>
  static boost::hana::tuple<Element<Ts>...> stored(keel::list<Ts...>);
  decltype(stored(types{})) elements_;
};

} // namespace keel::policy
