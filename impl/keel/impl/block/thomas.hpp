// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Thomas' elimination in one block of columns, with memory for a column beside it. Depends only on the standard
/// library.

#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/impl/block/registers.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace keel::block::detail {

KEEL_CALLS_USER
template <class View>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION auto number(View const& field, std::size_t k) {
  return field.data()[k * std::size_t(field.stride(0))];
}

/// A coefficient at `k`: a number if all columns have the same, else a pack.
KEEL_CALLS_USER
template <bool Adjacent = false, class Block, class View>
[[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION auto coefficient(Block const& block, View const& field, std::size_t k) {
  if constexpr (Field<View, 1>) return number(field, k);
  else return block.template load<Adjacent>(field, k);
}
KEEL_CALLS_USER
template <class Block, class View, class Value>
KEEL_FORCE_INLINE KEEL_FUNCTION void set_coefficient(Block const& block, View const& field, Value const& value,
                                                     std::size_t k) {
  if constexpr (Field<View, 1>) field.data()[k * std::size_t(field.stride(0))] = value;
  else block.store(field, value, k);
}

/// Numbers one after the other, as a field.
template <class T>
struct flat {
  static constexpr std::size_t rank = 1;
  T* first;
  std::size_t size;
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION T* data() const { return first; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION std::size_t extent(std::size_t) const { return size; }
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION static constexpr std::size_t stride(std::size_t) { return 1; }
};

/// A column in the memory of a team, copied there level by level ahead of its use.
template <class T>
struct streamed {
  team_memory<T> const& memory;
  [[nodiscard]] KEEL_FORCE_INLINE KEEL_FUNCTION pack<T, 1>& operator[](std::size_t k) const {
    return memory.template as<pack<T, 1>>(0)[k];
  }
};

template <class View>
using number_of = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<View const&>().data())>>;

/// Factorises in place, one column or all that a block holds.
template <class Lower, class Diagonal, class Upper>
struct factorisation {
  Lower lower;
  Diagonal diagonal;
  Upper upper;
  std::size_t levels;

  template <class Block>
  KEEL_FUNCTION void operator()(Block const& block) const {
    using T = number_of<Diagonal>;
    if (levels == 0) return;
    auto pivot = T{1} / coefficient(block, diagonal, 0);
    for (std::size_t k = 0;;) {
      set_coefficient(block, diagonal, pivot, k);
      if (k + 1 == levels) return;
      auto const carry = coefficient(block, upper, k) * pivot;
      set_coefficient(block, upper, carry, k++);
      auto const below = coefficient(block, lower, k);
      pivot = T{1} / (coefficient(block, diagonal, k) - below * carry);
      set_coefficient(block, lower, below * pivot, k);
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
  /// In memory of the team: first what lies between the two sweeps, then the carries; the coefficients that all columns
  /// share lie there once.
  template <std::size_t H, bool Whole>
  KEEL_FUNCTION void operator()(column_block<H, 1, Whole> const& block, team_memory<T> const& memory) const {
    std::size_t const n = levels();
    auto const carries = memory.template as<carry_of<1>>(Factorised ? 0 : n);
    if constexpr (shared_coefficients) {
      using in_team = flat<T const>;
      thomas<MaxLevels, Factorised, in_team, in_team, in_team, X> const here{
          {memory.common, n}, {memory.common + n, n}, {memory.common + 2 * n, n}, x};
      here.template solve<true>(block, streamed<T>{memory}, carries);
    } else {
      solve<true>(block, streamed<T>{memory}, carries);
    }
  }
  /// The values of all threads of a team together.
  [[nodiscard]] std::size_t common() const { return shared_coefficients ? 3 * levels() : 0; }
  KEEL_FUNCTION void fill([[maybe_unused]] T* to, [[maybe_unused]] std::size_t rank,
                          [[maybe_unused]] std::size_t threads) const {
    if constexpr (shared_coefficients) {
      std::size_t const n = levels();
      for (std::size_t k = rank; k < n; k += threads)
        to[k] = number(lower, k), to[n + k] = number(diagonal, k), to[2 * n + k] = number(upper, k);
    }
  }
  [[nodiscard]] KEEL_FUNCTION std::size_t levels() const { return std::size_t(extent_of(x, std::size_t(X::rank) - 1)); }

private:
  template <std::size_t, bool, class, class, class, class>
  friend struct thomas;

  static constexpr bool shared_coefficients = Field<Lower, 1> && Field<Diagonal, 1> && Field<Upper, 1>;
  template <std::size_t Length>
  using carry_of = std::conditional_t<shared_coefficients, T, pack<T, Length>>;

  /// A single column keeps what lies between in place.
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

  /// Calls `use(k, x at level k)` for every level upwards.
  template <bool Adjacent, class Block, class Between, class Use>
  KEEL_FORCE_INLINE KEEL_FUNCTION void climb(Block const& block, Between const&, Use const& use) const {
    auto const load = [&](std::size_t k) { return block.template load<Adjacent>(x, k); };
    use(0, load(0));
    for_levels(1, levels(), load, use);
  }
  /// Climbs through the memory of the team: calls `use(k, x at level k)` for every level upwards.
  template <bool, class Block, class Use>
  KEEL_FORCE_INLINE KEEL_FUNCTION void climb(Block const& block, streamed<T> const& between, Use const& use) const {
    between.memory.stream(
        levels(), [&](std::size_t k) { return block.at(x, k); },
        [&](std::size_t k, T value) { use(k, pack<T, 1>::filled(value)); });
  }

  KEEL_FORCE_INLINE KEEL_FUNCTION static void assign(T& to, T from) { to = from; }
  template <class P>
  KEEL_FORCE_INLINE KEEL_FUNCTION static void assign(P& to, P const& from) {
    to.assign(from);
  }

  template <class Block, class View>
  KEEL_FUNCTION static bool adjacent(Block const& block, View const& field) {
    if constexpr (Field<View, 1>) return true;
    else return block.is_adjacent(field);
  }

  template <class Block, class Between, class Carries>
  KEEL_FORCE_INLINE KEEL_FUNCTION void solve_in(Block const& block, Between&& between, Carries&& carries) const {
    if (levels() == 0) return;
    if (adjacent(block, lower) && adjacent(block, diagonal) && adjacent(block, upper) && block.is_adjacent(x))
      solve<true>(block, between, carries);
    else solve<false>(block, between, carries);
  }

  template <bool Adjacent, std::size_t H, std::size_t Length, bool Whole, class Between, class Carries>
  KEEL_FORCE_INLINE KEEL_FUNCTION void solve(column_block<H, Length, Whole> const& block, Between&& between,
                                             Carries&& carries) const {
    using P = pack<T, Length>;
    using C = carry_of<Length>;
    std::size_t const n = levels();
    C pivot{};
    P y{};
    climb<Adjacent>(block, between, [&](std::size_t k, P const& right) {
      auto const here = coefficient<Adjacent>(block, diagonal, k);
      if (k == 0) {
        assign(pivot, Factorised ? C{} + here : T{1} / (C{} + here));
        y.assign(right * pivot);
      } else if constexpr (Factorised) {
        y.assign(right * here - y * coefficient<Adjacent>(block, lower, k));
      } else {
        C const carry = pivot * coefficient<Adjacent>(block, upper, k - 1);
        auto const below = coefficient<Adjacent>(block, lower, k);
        assign(carries[k - 1], carry);
        assign(pivot, T{1} / (C{} + here - carry * below));
        y.assign(right * pivot - y * (pivot * below));
      }
      between[k].assign(y);
    });
    block.template store<Adjacent>(x, y, n - 1);
    for (std::size_t k = n - 1; k-- > 0;) {
      P const before = between[k];
      if constexpr (Factorised) y.assign(before - y * coefficient<Adjacent>(block, upper, k));
      else y.assign(before - y * carries[k]);
      block.template store<Adjacent>(x, y, k);
    }
  }
};

/// Columns solved together on a processor, whatever the length; the bits do not depend on it. Each level waits for the
/// one before, so a few registers are too few, and a pack that exceeds them all costs most. One stays one, for a GPU's
/// threads and for memory that is short.
template <class T, std::size_t Length>
inline constexpr std::size_t columns_together =
    Length == 1 ? 1 : std::min<std::size_t>(16 * register_bytes, 512) / sizeof(T);

} // namespace keel::block::detail
