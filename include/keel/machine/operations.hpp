// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Operations of reductions, as types.

#include <keel/policy/macros.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace keel::machine {

namespace detail {
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <class T>
KEEL_FUNCTION constexpr bool is_nan(T const& x) {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) return x != x;
  else return false;
}
} // namespace detail

/// The smaller and the larger of two; NaN if one of them is, as `MPI_MIN` and `MPI_MAX` do not guarantee.
struct minimum {
  KEEL_CALLS_USER
  template <class T>
  KEEL_FUNCTION constexpr T operator()(T const& a, T const& b) const {
    return !detail::is_nan(a) && (b < a || detail::is_nan(b)) ? b : a;
  }
};
struct maximum {
  KEEL_CALLS_USER
  template <class T>
  KEEL_FUNCTION constexpr T operator()(T const& a, T const& b) const {
    return !detail::is_nan(a) && (a < b || detail::is_nan(b)) ? b : a;
  }
};

namespace detail {
template <class Op, class T>
struct reduced_type : std::type_identity<T> {};
template <std::integral T>
  requires(sizeof(T) < sizeof(std::int64_t))
struct reduced_type<std::plus<>, T>
    : std::conditional<std::is_signed_v<T> || std::same_as<T, bool>, std::int64_t, std::uint64_t> {};
template <class Op, class T, std::size_t N>
struct reduced_type<Op, std::array<T, N>> : std::type_identity<std::array<typename reduced_type<Op, T>::type, N>> {};
} // namespace detail

/// What `Op` makes of values of `T`: of a sum of integers, bool among them, one of 64 bits, because it may not fit
/// their own type; else `T`. The same of an array's elements.
template <class Op, class T>
using reduced = typename detail::reduced_type<Op, T>::type;
template <class Op, class T>
[[nodiscard]] constexpr reduced<Op, T> to_reduced(T const& x) {
  return x;
}
template <class Op, class T, std::size_t N>
[[nodiscard]] constexpr reduced<Op, std::array<T, N>> to_reduced(std::array<T, N> const& x) {
  if constexpr (std::same_as<reduced<Op, T>, T>) return x;
  else {
    reduced<Op, std::array<T, N>> made{};
    for (std::size_t i = 0; i < N; ++i) made[i] = x[i];
    return made;
  }
}

/// A sum whose rounding may depend on the ranks, and one that is exact and rounded once: an operation of
/// `residency::reduce` only; elsewhere it is `sum(env, x, ordered)`.
using plain_sum = std::plus<>;
struct ordered_sum {};

} // namespace keel::machine
