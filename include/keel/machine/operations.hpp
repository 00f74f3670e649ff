// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Operations of reductions, as types. Depends only on the standard library.

#include <functional>

namespace keel::machine {

/// The smaller and the larger of two.
struct minimum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const {
    return b < a ? b : a;
  }
};
struct maximum {
  template <class T>
  constexpr T operator()(T const& a, T const& b) const {
    return a < b ? b : a;
  }
};

/// A sum whose rounding may depend on the ranks, and one that is exact and rounded once: an operation of
/// `residency::reduce` only; elsewhere it is `sum(env, x, ordered)`.
using plain_sum = std::plus<>;
struct ordered_sum {};

} // namespace keel::machine
