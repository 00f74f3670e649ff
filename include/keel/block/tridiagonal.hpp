// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Many tridiagonal systems at once, one in each column of a field. Depends only on the standard library.
///
///     lower(k) x(k-1) + diagonal(k) x(k) + upper(k) x(k+1) = r(k)
///
/// Method: Thomas' elimination, without pivoting: the matrix should be diagonally dominant. Neighbouring columns are
/// solved together in packs, so that the recurrence along a column costs no waiting. Every length gives the same bits.

#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/impl/block/thomas.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::block {

/// The matrices: each of the three is a field of the shape of the unknowns, or one of a single index if all columns
/// have the same. `lower` at the first index and `upper` at the last are not read.
template <class Lower, class Diagonal, class Upper>
struct tridiagonal {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
};
template <class L, class D, class U>
tridiagonal(L, D, U) -> tridiagonal<L, D, U>;

/// A batch of systems after `factorise`, in the same memory: a solution divides no more.
template <class Lower, class Diagonal, class Upper>
struct factorised {
  Lower lower;       ///< times the pivot
  Diagonal diagonal; ///< the pivot: 1 over what elimination leaves of the diagonal
  Upper upper;       ///< times the pivot
};

namespace detail {

template <class View, class X>
inline constexpr bool is_coefficient = Field<View, 1> || Field<View, std::size_t(X::rank)>;
template <class View, class X>
void check_coefficient(char const* name, View const& field, X const& x) {
  static_assert(
      is_coefficient<View, X>,
      "keel::block::tridiagonal: a coefficient has another number of indices than the unknowns, and more than one (it "
      "is the same for all columns, or one for each). Give a field of either kind.");
  for (std::size_t d = Field<View, 1> ? std::size_t(X::rank) - 1 : 0; d < std::size_t(X::rank); ++d) {
    auto const own = std::size_t(extent_of(field, Field<View, 1> ? 0 : d));
    auto const wanted = std::size_t(extent_of(x, d));
    if (own != wanted)
      throw error(
          "block",
          "the coefficient '" + std::string(name) + "' of tridiagonal systems has another shape than the unknowns",
          std::to_string(own) + " in place of " + std::to_string(wanted) + " along their index " + std::to_string(d),
          "Make them equal");
  }
}

template <std::size_t Length, class Where, class Solver>
void solve_columns(std::string const& label, Where const& where, std::size_t arrays, Solver const& solver) {
  using T = number_of<decltype(solver.x)>;
  for_each_block_with_memory<columns_together<T, Length>, tail::masked, T>(
      label, where, columns_of(solver.x), {arrays * solver.levels(), solver.common()}, solver);
}

template <std::size_t MaxLevels, class M, class X>
void check_system(M const& m, X const& x) {
  check_coefficient("lower", m.lower, x);
  check_coefficient("diagonal", m.diagonal, x);
  check_coefficient("upper", m.upper, x);
  auto const levels = std::size_t(detail::extent_of(x, std::size_t(X::rank) - 1));
  if (levels > MaxLevels)
    throw error("block", "columns of " + std::to_string(levels) + " are too long",
                "room was compiled in for " + std::to_string(MaxLevels), "Give a larger MaxLevels");
}

} // namespace detail

/// Solves every column of `x`, which holds the right-hand sides and becomes the solution, at `where`; asynchronously
/// if the place runs so. Allocates nothing; keeps up to two columns of a block, of at most `MaxLevels`, on the stack
/// of a thread.
template <std::size_t Length, std::size_t MaxLevels = 128, Place Where, class L, class D, class U, class X>
  requires(Field<X, 2> || Field<X, 3>)
void solve_tridiagonal(std::string const& label, Where const& where, tridiagonal<L, D, U> const& m, X const& x) {
  detail::check_system<MaxLevels>(m, x);
  if constexpr (detail::is_coefficient<L, X> && detail::is_coefficient<D, X> && detail::is_coefficient<U, X>)
    detail::solve_columns<Length>(label, where, 2,
                                  detail::thomas<MaxLevels, false, L, D, U, X>{m.lower, m.diagonal, m.upper, x});
}
template <std::size_t Length, std::size_t MaxLevels = 128, Place Where, class L, class D, class U, class X>
  requires(Field<X, 2> || Field<X, 3>)
void solve_tridiagonal(std::string const& label, Where const& where, factorised<L, D, U> const& m, X const& x) {
  detail::check_system<MaxLevels>(m, x);
  if constexpr (detail::is_coefficient<L, X> && detail::is_coefficient<D, X> && detail::is_coefficient<U, X>)
    detail::solve_columns<Length>(label, where, 1,
                                  detail::thomas<MaxLevels, true, L, D, U, X>{m.lower, m.diagonal, m.upper, x});
}

/// Divides once for all right-hand sides to come: overwrites the coefficients, all three of one shape.
template <std::size_t Length, Place Where, class View>
[[nodiscard]] factorised<View, View, View> factorise(std::string const& label, Where const& where,
                                                     tridiagonal<View, View, View> const& m) {
  detail::check_coefficient("lower", m.lower, m.diagonal);
  detail::check_coefficient("upper", m.upper, m.diagonal);
  constexpr std::size_t last = std::size_t(View::rank) - 1;
  detail::factorisation<View, View, View> const f{m.lower, m.diagonal, m.upper,
                                                  std::size_t(detail::extent_of(m.diagonal, last))};
  if constexpr (Field<View, 1>) for_each_block<1>(label, where, 0, 1, f);
  else for_each_block<Length, tail::masked>(label, where, columns_of(m.diagonal), f);
  return {m.lower, m.diagonal, m.upper};
}

} // namespace keel::block
