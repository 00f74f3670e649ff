// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How values are combined in a kernel: several numbers one by one, from what changes nothing, with the place of each.

#include <keel/layout/grid.hpp>
#include <keel/machine/operations.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>

namespace keel::residency {

template <class T>
struct placed;
template <class Operation>
struct place_of;

namespace detail {

/// What changes no other value of type `T`; a user's own operation gives it as `neutral`.
template <class Operation, class T>
struct neutral_of {
  static_assert(
      requires { T(Operation::neutral); },
      "keel::residency::reduce_owned: an operation does not say what changes no value (a rank may own no "
      "cells; operation and type are in the message). Give it a `static constexpr T neutral`.");
  KEEL_FUNCTION static constexpr T value() { return T(Operation::neutral); }
};
template <class T>
struct neutral_of<std::plus<>, T> {
  KEEL_FUNCTION static constexpr T value() { return T{}; }
};
template <class T>
struct neutral_of<machine::minimum, T> {
  using limits = std::numeric_limits<T>;
  static constexpr T most = limits::has_infinity ? limits::infinity() : limits::max(); // whose calls no device has
  KEEL_FUNCTION static constexpr T value() { return most; }
};
template <class T>
struct neutral_of<machine::maximum, T> {
  using limits = std::numeric_limits<T>;
  static constexpr T least = limits::has_infinity ? -limits::infinity() : limits::lowest();
  KEEL_FUNCTION static constexpr T value() { return least; }
};
template <class Operation, class T>
struct neutral_of<place_of<Operation>, placed<T>> {
  static constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  KEEL_FUNCTION static constexpr placed<T> value() {
    return {neutral_of<Operation, T>::value(), {{last, last, last, last}}};
  }
};

/// How values are combined: several numbers one by one.
template <class Operation, class T>
struct combining {
  Operation operation;
  KEEL_FUNCTION static constexpr T neutral() {
    if constexpr (machine::detail::is_array<T>) {
      T all{};
      for (std::size_t k = 0; k < count<T>; ++k) at(all, k) = neutral_of<Operation, typename T::value_type>::value();
      return all;
    } else return neutral_of<Operation, T>::value();
  }
  KEEL_CALLS_USER
  template <class Term>
  KEEL_FUNCTION constexpr void add(T& to, Term const& one) const {
    if constexpr (machine::detail::is_array<T>) {
      for (std::size_t k = 0; k < count<T>; ++k) at(to, k) = both(at(to, k), typename T::value_type(at(one, k)));
    } else to = both(to, T(one));
  }

private:
  // The calls of std::array and std::plus are for the host only.
  template <class Array>
  static constexpr std::size_t count = std::tuple_size_v<Array>;
  template <class Array>
  KEEL_FUNCTION static auto& at(Array& all, std::size_t k) {
    using value =
        std::conditional_t<std::is_const_v<Array>, typename Array::value_type const, typename Array::value_type>;
    return reinterpret_cast<value*>(&all)[k];
  }
  KEEL_CALLS_USER
  template <class Value>
  KEEL_FUNCTION constexpr Value both(Value const& a, Value const& b) const {
    if constexpr (std::is_same_v<Operation, std::plus<>>) return a + b;
    else return operation(a, b);
  }
};

/// What `f` gives, with the place of the cell.
template <class F>
struct with_place {
  F f;
  indices shift; ///< from local indices
  KEEL_CALLS_USER
  template <class... I>
    requires std::is_invocable_v<F const&, I...>
  KEEL_FUNCTION auto operator()(I... i) const {
    placed<std::remove_cvref_t<std::invoke_result_t<F const&, I...>>> made{f(i...), shift};
    int d = 0;
    ((made.place[d++] += i), ...);
    return made;
  }
};
template <class Operation>
inline constexpr bool takes_places = false;
template <class Operation>
inline constexpr bool takes_places<place_of<Operation>> = true;

} // namespace detail

} // namespace keel::residency
