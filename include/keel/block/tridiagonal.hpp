// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Many tridiagonal systems at once, one in each column of a field. Rests on the standard library alone.
///
///     lower(k) x(k-1) + diagonal(k) x(k) + upper(k) x(k+1) = r(k)
///
/// Method: Thomas' elimination, without pivoting: the matrix should be diagonally dominant. Neighbouring columns are
/// solved together in packs, so that the recurrence along a column costs no waiting. Every length gives the same bits.

#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace keel::block {

/// The matrices: each of the three is a field of the shape of the unknowns, or one of a single index where all columns
/// have the same. `lower` at the first index and `upper` at the last are not read.
template <class Lower, class Diagonal, class Upper>
struct tridiagonal {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
};
template <class L, class D, class U>
tridiagonal(L, D, U) -> tridiagonal<L, D, U>;

/// The same after `factorise`, in the same memory: a solution divides no more.
template <class Lower, class Diagonal, class Upper>
struct factorised {
  Lower lower;       ///< times the pivot
  Diagonal diagonal; ///< the pivot: 1 over what elimination leaves of the diagonal
  Upper upper;       ///< times the pivot
};

namespace detail {

/// A coefficient at `k`: a number where all columns have the same, else a pack.
template <bool Adjacent = false, class Block, class View>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION auto coefficient(Block const& block, View const& field, std::size_t k) {
  if constexpr (Field<View, 1>)
    return field.data()[k * static_cast<std::size_t>(field.stride(0))];
  else
    return block.template load<Adjacent>(field, k);
}
template <class Block, class View, class Value>
KEEL_FORCE_INLINE KEEL_FUNCTION void set_coefficient(Block const& block, View const& field, Value const& value,
                                                     std::size_t k) {
  if constexpr (Field<View, 1>)
    field.data()[k * static_cast<std::size_t>(field.stride(0))] = value;
  else
    block.store(field, value, k);
}

template <class View>
using number_of = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<View const&>().data())>>;

template <class View, class X>
void check_coefficient(char const* name, View const& field, X const& x) {
  static_assert(
      Field<View, 1> || Field<View, static_cast<std::size_t>(X::rank)>,
      "keel::block::tridiagonal: a coefficient has another number of indices than the unknowns, and more than one (it "
      "is the same for all columns, or one for each). Give a field of either kind?");
  for (std::size_t d = Field<View, 1> ? static_cast<std::size_t>(X::rank) - 1 : 0;
       d < static_cast<std::size_t>(X::rank); ++d) {
    auto const own = static_cast<std::size_t>(field.extent(static_cast<int>(Field<View, 1> ? 0 : d)));
    auto const wanted = static_cast<std::size_t>(x.extent(static_cast<int>(d)));
    if (own != wanted)
      throw error(
          "block",
          "the coefficient '" + std::string(name) + "' of tridiagonal systems has another shape than the unknowns",
          std::to_string(own) + " in place of " + std::to_string(wanted) + " along their index " + std::to_string(d),
          "Make them equal");
  }
}

/// Factorises in place, one column or all that a block holds.
template <class Lower, class Diagonal, class Upper>
struct factorisation {
  tridiagonal<Lower, Diagonal, Upper> m;
  std::size_t levels;

  template <class Block>
  KEEL_FUNCTION void operator()(Block const& block) const {
    using T = number_of<Diagonal>;
    if (levels == 0) return;
    auto pivot = T{1} / coefficient(block, m.diagonal, 0);
    for (std::size_t k = 0;;) {
      set_coefficient(block, m.diagonal, pivot, k);
      if (k + 1 == levels) return;
      auto const carry = coefficient(block, m.upper, k) * pivot;
      set_coefficient(block, m.upper, carry, k++);
      auto const lower = coefficient(block, m.lower, k);
      pivot = T{1} / (coefficient(block, m.diagonal, k) - lower * carry);
      set_coefficient(block, m.lower, lower * pivot, k);
    }
  }
};

/// Elimination and substitution of one block of columns. What lies between the two is kept beside the block, because
/// rows of the block lie far apart and may share sets of the cache; a single column keeps it in place.
template <std::size_t MaxLevels, bool Factorised, class Lower, class Diagonal, class Upper, class X>
struct thomas {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
  X x;

  using T = number_of<X>;

  /// In memory of the thread.
  template <std::size_t H, std::size_t Length, bool Whole>
  KEEL_FUNCTION void operator()(column_block<H, Length, Whole> const& block) const {
    carry_of<Length> carries[Factorised ? 1 : MaxLevels];
    if constexpr (Length == 1) {
      solve_in(block, column_in_place<column_block<H, 1, Whole>>{block, x}, carries);
    } else {
      pack<T, Length> between[MaxLevels];
      solve_in(block, between, carries);
    }
  }
  /// In memory of the team: first what lies between the two sweeps, then the carries.
  template <std::size_t H, bool Whole>
  KEEL_FUNCTION void operator()(column_block<H, 1, Whole> const& block, team_memory<T> const& memory) const {
    solve_in(block, memory.template as<pack<T, 1>>(0), memory.template as<carry_of<1>>(Factorised ? 0 : levels()));
  }
  [[nodiscard]] KEEL_FUNCTION std::size_t levels() const {
    return static_cast<std::size_t>(x.extent(static_cast<int>(X::rank) - 1));
  }

private:
  template <std::size_t Length>
  using carry_of = std::conditional_t<Field<Lower, 1> && Field<Diagonal, 1> && Field<Upper, 1>, T, pack<T, Length>>;

  /// A single column keeps what lies between where it is.
  template <class Block>
  struct column_in_place {
    Block const& block;
    X const& x;
    struct level {
      column_in_place const& c;
      std::size_t k;
      KEEL_FORCE_INLINE KEEL_FUNCTION void assign(pack<T, 1> const& y) const { c.block.store(c.x, y, k); }
      KEEL_FORCE_INLINE KEEL_FUNCTION operator pack<T, 1>() const { return c.block.load(c.x, k); }
    };
    KEEL_FORCE_INLINE KEEL_FUNCTION level operator[](std::size_t k) const { return {*this, k}; }
  };

  KEEL_FORCE_INLINE KEEL_FUNCTION static void assign(T& to, T from) { to = from; }
  template <class P>
  KEEL_FORCE_INLINE KEEL_FUNCTION static void assign(P& to, P const& from) {
    to.assign(from);
  }

  template <class Block, class View>
  KEEL_FUNCTION static bool adjacent(Block const& block, View const& field) {
    if constexpr (Field<View, 1>)
      return true;
    else
      return block.is_adjacent(field);
  }

  template <class Block, class Between, class Carries>
  KEEL_FORCE_INLINE KEEL_FUNCTION void solve_in(Block const& block, Between&& between, Carries&& carries) const {
    if (levels() == 0) return;
    if (adjacent(block, lower) && adjacent(block, diagonal) && adjacent(block, upper) && block.is_adjacent(x))
      solve<true>(block, between, carries);
    else
      solve<false>(block, between, carries);
  }

  template <bool Adjacent, std::size_t H, std::size_t Length, bool Whole, class Between, class Carries>
  KEEL_FORCE_INLINE KEEL_FUNCTION void solve(column_block<H, Length, Whole> const& block, Between&& between,
                                             Carries&& carries) const {
    using P = pack<T, Length>;
    using C = carry_of<Length>;
    std::size_t const n = levels();
    C pivot = C{} + coefficient<Adjacent>(block, diagonal, 0);
    if constexpr (!Factorised) pivot = T{1} / pivot;
    P y = block.template load<Adjacent>(x, 0) * pivot;
    between[0].assign(y);
    for_levels(
        1, n, [&](std::size_t k) { return block.template load<Adjacent>(x, k); },
        [&](std::size_t k, P const& right) {
          auto const below = coefficient<Adjacent>(block, lower, k), here = coefficient<Adjacent>(block, diagonal, k);
          if constexpr (Factorised) {
            y.assign(right * here - y * below);
          } else {
            C const carry = pivot * coefficient<Adjacent>(block, upper, k - 1);
            assign(carries[k - 1], carry);
            assign(pivot, T{1} / (C{} + here - carry * below));
            y.assign(right * pivot - y * (pivot * below));
          }
          between[k].assign(y);
        });
    block.template store<Adjacent>(x, y, n - 1);
    for (std::size_t k = n - 1; k-- > 0;) {
      P const before = between[k];
      if constexpr (Factorised)
        y.assign(before - y * coefficient<Adjacent>(block, upper, k));
      else
        y.assign(before - y * carries[k]);
      block.template store<Adjacent>(x, y, k);
    }
  }
};

/// Columns solved together on a processor: at least as many as fill four registers, because each level waits for the one
/// before; the bits do not depend on it. One stays one, for a GPU's threads and for memory that is short.
template <class T, std::size_t Length>
inline constexpr std::size_t columns_together = [] {
  constexpr std::size_t least = 4 * register_bytes / sizeof(T);
  return Length == 1 ? 1 : (least + Length - 1) / Length > 1 ? (least + Length - 1) / Length * Length : Length;
}();

template <std::size_t Length, class Where, class Solver>
void solve_columns(std::string const& label, Where const& where, std::size_t arrays, Solver const& solver) {
  using T = number_of<decltype(solver.x)>;
  for_each_block_with_memory<columns_together<T, Length>, tail::masked, T>(label, where, columns_of(solver.x),
                                                                           arrays * solver.levels(), solver);
}

template <std::size_t MaxLevels, class M, class X>
void check_system(M const& m, X const& x) {
  check_coefficient("lower", m.lower, x);
  check_coefficient("diagonal", m.diagonal, x);
  check_coefficient("upper", m.upper, x);
  auto const levels = static_cast<std::size_t>(x.extent(static_cast<int>(X::rank) - 1));
  if (levels > MaxLevels)
    throw error("block", "columns of " + std::to_string(levels) + " are too long",
                "room was compiled in for " + std::to_string(MaxLevels), "Give a larger MaxLevels");
}

} // namespace detail

/// Solves every column of `x`, which holds the right-hand sides and becomes the solution, at `where`; behind the caller
/// where the place runs so. Allocates nothing; keeps up to two columns of a block, of at most `MaxLevels`, on the stack
/// of a thread.
template <std::size_t Length, std::size_t MaxLevels = 128, Place Where, class L, class D, class U, class X>
  requires(Field<X, 2> || Field<X, 3>)
void solve_tridiagonal(std::string const& label, Where const& where, tridiagonal<L, D, U> const& m, X const& x) {
  detail::check_system<MaxLevels>(m, x);
  detail::solve_columns<Length>(label, where, 2,
                                detail::thomas<MaxLevels, false, L, D, U, X>{m.lower, m.diagonal, m.upper, x});
}
template <std::size_t Length, std::size_t MaxLevels = 128, Place Where, class L, class D, class U, class X>
  requires(Field<X, 2> || Field<X, 3>)
void solve_tridiagonal(std::string const& label, Where const& where, factorised<L, D, U> const& m, X const& x) {
  detail::check_system<MaxLevels>(m, x);
  detail::solve_columns<Length>(label, where, 1,
                                detail::thomas<MaxLevels, true, L, D, U, X>{m.lower, m.diagonal, m.upper, x});
}

/// Divides once for all right-hand sides to come: overwrites the coefficients, all three of one shape.
template <std::size_t Length, Place Where, class View>
[[nodiscard]] factorised<View, View, View> factorise(std::string const& label, Where const& where,
                                                     tridiagonal<View, View, View> const& m) {
  detail::check_coefficient("lower", m.lower, m.diagonal);
  detail::check_coefficient("upper", m.upper, m.diagonal);
  constexpr int last = static_cast<int>(View::rank) - 1;
  detail::factorisation<View, View, View> const f{m, static_cast<std::size_t>(m.diagonal.extent(last))};
  if constexpr (Field<View, 1>)
    for_each_block<1>(label, where, 0, 1, f);
  else
    for_each_block<Length, tail::masked>(label, where, columns_of(m.diagonal), f);
  return {m.lower, m.diagonal, m.upper};
}

} // namespace keel::block
