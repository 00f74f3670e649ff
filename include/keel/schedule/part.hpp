// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The parts of variables that a routine may name.

#include <keel/layout/variable.hpp>

namespace keel::residency {

namespace detail {

enum class named { nothing, part, variable };
template <class X>
constexpr named named_by() {
  if constexpr (requires { X::level, X::where, X::layers; }) return named::part;
  else return Variable<X> ? named::variable : named::nothing;
}
/// A variable, or a part of one, taken apart: `variable`, `level`, `where` (none if no region was named), `layers` of
/// the halo. Empty for others. Specialised by value and not for `Variable V`, the concept that `Part` asks of a member
/// of it: g++ 12 takes the two for one constraint, which depends on itself, if both fall into one place of a hash table
/// by addresses. That refused right code in one of some fifty compilations.
template <class X, named = named_by<X>()>
struct item {};
template <class X>
struct item<X, named::part> {
  using variable = typename X::variable;
  static constexpr int level = X::level;
  static constexpr region where = X::where;
  static constexpr int layers = X::layers;
};
template <class V>
struct item<V, named::variable> {
  using variable = V;
  static constexpr int level = 0;
  static constexpr region where = region::none;
  static constexpr int layers = all_layers;
};

} // namespace detail

/// A variable or a part of one: what may stand in `reads`, `writes`, `updates`, and in `v(…)`.
template <class X>
concept Part = Variable<typename detail::item<X>::variable>;

namespace detail {
template <Variable V, int Level>
consteval int require_level() {
  constexpr bool is_there = Level >= 0 && Level < V::about.levels;
  static_assert(is_there,
                "keel::residency::past: the variable has no such level (levels<N> counts the current one; the "
                "variable is in the message). Give the variable more levels.");
  return is_there ? Level : 0;
}
} // namespace detail

/// The level `Level` steps back; `past<eta, 0>` is `eta`.
template <Part X, int Level>
struct past {
  using variable = typename detail::item<X>::variable;
  static constexpr int level = detail::require_level<variable, Level>();
  static constexpr region where = detail::item<X>::where;
  static constexpr int layers = detail::item<X>::layers;
};

/// Region `Where` of `X`. The names below are shorter; `core` is the name of the region itself,
/// so the core of a variable is `part<x, core>`.
template <Part X, region Where>
struct part {
  using variable = typename detail::item<X>::variable;
  static constexpr int level = detail::item<X>::level;
  static constexpr region where = Where;
  static constexpr int layers = detail::item<X>::layers;
};
template <Part X>
struct rim : part<X, region::rim> {};
template <Part X>
struct owned : part<X, region::owned> {};
template <Part X>
struct inside : part<X, region::inside> {};
template <Part X>
struct walls : part<X, region::walls> {};
template <Part X>
struct halo : part<X, region::halo> {};
template <Part X>
struct everywhere : part<X, region::everywhere> {};

/// `X`, and of its halo only the first `N` layers, counted from the owned cells: in an exchange those that it fills, in
/// `reads` those that have to be filled, in `writes` those that are written beside the owned cells. What is filled or
/// written makes the layers beyond it invalid. If there are fewer, all.
template <int N, Part X>
struct depth {
  static_assert(N >= 1 && N <= max_layers_apart,
                "keel::residency::depth: not between 1 and 5 (so many layers are told apart). Leave depth out.");
  using variable = typename detail::item<X>::variable;
  static constexpr int level = detail::item<X>::level;
  static constexpr region where = detail::item<X>::where;
  static constexpr int layers = N;
};
/// `X` on all faces, edges or corners of the owned cells: what this rank owns, and what it shares with the lower rank,
/// which owns that. A routine that computes it on each rank needs no exchange of it: `writes<closure<flux>>`, and then
/// `reads<closure<flux>>`, between the bounds `v.everywhere(closure<flux>{})`. It is part of the first layer of ghosts,
/// so an exchange fills it, too; a write of it makes all layers invalid. Of a variable in cells it is what is owned.
template <Part X>
struct closure {
  using variable = typename detail::item<X>::variable;
  static_assert(
      variable::about.lies_on_grid && variable::about.on.mesh.empty(),
      "keel::residency::closure: a variable does not lie on a grid (it is in the message). Say which elements, "
      "as owned<x> or depth<1, x>.");
  static constexpr int level = detail::item<X>::level;
  /// Without ghosts of its own it has nothing beyond.
  static constexpr bool is_all = [] {
    for (auto const width : variable::about.on.width)
      if (width != 0) return false;
    return true;
  }();
  static constexpr bool is_shared =
      (variable::about.on.longer & (variable::about.on.along != 0 ? variable::about.on.along : 255)) != 0;
  static constexpr region where = is_shared ? region::inside : region::owned;
  static constexpr int layers = is_shared && is_all ? all_layers : 0;
};
/// A `depth`, as meshes say it.
template <Part X, int N>
struct layer : depth<N, X> {};

} // namespace keel::residency
