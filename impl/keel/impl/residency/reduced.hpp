// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// One value out of many cells, by a kernel: what it begins with, and how rows and their results are combined.

#include <keel/machine/operations.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/loops.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace keel::residency {

template <class T>
struct placed;
template <class Operation>
struct place_of;

namespace detail {

template <class T>
inline constexpr bool is_several = false;
template <class T, std::size_t N>
inline constexpr bool is_several<std::array<T, N>> = true;

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
    if constexpr (is_several<T>) {
      T all{};
      for (std::size_t k = 0; k < count<T>; ++k) at(all, k) = neutral_of<Operation, typename T::value_type>::value();
      return all;
    } else return neutral_of<Operation, T>::value();
  }
  KEEL_CALLS_USER
  template <class Term>
  KEEL_FUNCTION constexpr void add(T& to, Term const& one) const {
    if constexpr (is_several<T>) {
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

/// Combines a row in eight parts, each of every eighth cell, then these: a fixed order that does not wait for each
/// operation.
template <class Rows, class F, class Combining, class T>
struct row_reduction {
  Rows rows;
  F f;
  Combining how;
  T* parts;
  struct adder {
    row_reduction const& of;
    T* each;
    unsigned at = 0;
    KEEL_CALLS_USER
    template <class... I>
    KEEL_FUNCTION void operator()(I... i) {
      of.how.add(each[at++ % 8], of.f(i...));
    }
  };
  KEEL_FUNCTION void operator()(std::int64_t row) const {
    T each[8];
    for (T& one : each) one = Combining::neutral();
    rows.visit(row, adder{*this, each});
    for (int k = 1; k < 8; ++k) how.add(each[0], each[k]);
    parts[row] = each[0];
  }
};

/// A reduction as Kokkos does it, on a GPU: what it calls for cells and for parts.
template <class F, class Combining, class T>
struct cell_reduction {
  F f;
  Combining how;
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(int i, T& to) const { how.add(to, f(i)); }
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(int i, int j, T& to) const { how.add(to, f(i, j)); }
  KEEL_CALLS_USER
  KEEL_FUNCTION void operator()(int i, int j, int k, T& to) const { how.add(to, f(i, j, k)); }
};
template <class Combining, class T>
struct reducer_of {
  using reducer = reducer_of;
  using value_type = T;
  using result_view_type = Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Combining how;
  T* result;
  KEEL_FUNCTION void join(T& to, T const& one) const { how.add(to, one); }
  KEEL_FUNCTION void init(T& to) const { to = Combining::neutral(); }
  KEEL_FUNCTION T& reference() const { return *result; }
  KEEL_FUNCTION result_view_type view() const { return result_view_type(result); }
  KEEL_FUNCTION bool references_scalar() const { return true; }
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

/// What `f` gives for these cells, combined, box by box.
template <class V, class Operation, class F>
[[nodiscard]] auto reduced(V const& v, index_sets const& boxes, std::string_view name, Operation const& operation,
                           F const& f) {
  constexpr int rank = rank_of_loop<F>;
  using T = machine::reduced<Operation, std::remove_cvref_t<typename result_of_loop<F>::type>>;
  using how = combining<Operation, T>;
  how const combine{operation};
  T all = how::neutral();
  std::string const label(name);
  for (bounds const& cells : boxes) {
    if constexpr (V::is_on_accelerator) {
      T of_box = how::neutral();
      Kokkos::parallel_reduce(label, policy_of<rank>(v, cells), cell_reduction<F, how, T>{f, combine},
                              reducer_of<how, T>{combine, &of_box});
      v.execution_space().fence();
      combine.add(all, of_box);
    } else {
      using cut = rows<rank, is_left<V>>;
      cut const box(cells);
      auto const parts = std::make_unique<T[]>(std::size_t(box.count()));
      Kokkos::parallel_for(label, policy_of_rows(v, box.count()),
                           row_reduction<cut, F, how, T>{box, f, combine, parts.get()});
      v.execution_space().fence();
      for (std::int64_t row = 0; row < box.count(); ++row) combine.add(all, parts[std::size_t(row)]);
    }
  }
  return all;
}
template <class V, class Operation, class F>
[[nodiscard]] auto reduced(V const& v, bounds const& cells, std::string_view name, Operation const& operation,
                           F const& f) {
  index_sets one;
  one.add(cells, rank_of_loop<F>);
  return reduced(v, one, name, operation, f);
}

} // namespace detail

} // namespace keel::residency
