// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Operations of reductions, as types. Depends only on the standard library.

#include <functional>
#include <limits>

namespace keel::machine {

namespace detail {
template <class T>
constexpr bool is_nan(T const& x) {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) return x != x;
  else return false;
}
} // namespace detail

/// The smaller and the larger of two; NaN if one of them is, as `MPI_MIN` and `MPI_MAX` do not guarantee.
struct minimum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const {
    return !detail::is_nan(a) && (b < a || detail::is_nan(b)) ? b : a;
  }
};
struct maximum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const {
    return !detail::is_nan(a) && (a < b || detail::is_nan(b)) ? b : a;
  }
};

/// A sum whose rounding may depend on the ranks, and one that is exact and rounded once: an operation of
/// `residency::reduce` only; elsewhere it is `sum(env, x, ordered)`.
using plain_sum = std::plus<>;
struct ordered_sum {};

} // namespace keel::machine
