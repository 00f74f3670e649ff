// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Conditions at the walls, where a grid ends that is not periodic, as entries of a schedule.

#include <keel/layout/grid.hpp>
#include <keel/policy/list.hpp>
#include <keel/schedule/schedule.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// With any condition: only the walls at these ends of dimension `D` of the grid, at both if none is named. Those of
/// several are joined.
template <int D, side... Ends>
  requires(D >= 0 && D < max_grid_rank)
struct on_side {
  static constexpr unsigned sides = sizeof...(Ends) == 0 ? 3U << (2 * D) : ((1U << (2 * D + int(Ends))) | ... | 0U);
};

/// What ghosts beyond a wall get.
enum class wall_values : std::uint8_t { none, mirrored, continued, past, constant };

/// A condition for one level of a variable, as data.
struct wall_condition {
  static constexpr unsigned all_sides = (1U << (2 * max_grid_rank)) - 1;
  variable_info const* variable = nullptr;
  int level = 0, layers = all_layers;
  wall_values what = wall_values::none;
  unsigned sides = 0, negative = 0; ///< bit 2 d + e: end e of dimension d; bit k: the k-th sign is -1
  unsigned possible = all_sides;    ///< sides of the dimensions that the variable has
  bool leaves_layers = false;       ///< of these sides, as far as that is known while compiling
  int signs = 0;                    ///< how many were given
  void const* value = nullptr;      ///< an element, of constants
};

namespace detail {

template <class A>
concept SignOption = requires { A::signs; };
template <class A>
concept SideOption = requires { A::sides; };
template <class A>
inline constexpr bool is_constant = false;
template <class A>
  requires(!Part<A>) && requires { A::value; }
inline constexpr bool is_constant<A> = true;

/// The last of the arguments that is a constant; void if none is.
template <class... Args>
struct constant_among : std::type_identity<void> {};
template <class A, class... Args>
struct constant_among<A, Args...> : std::conditional_t<is_constant<A>, std::type_identity<A>, constant_among<Args...>> {
};
template <class T, class Constant>
inline constexpr T element_with = T(Constant::value);

template <class Data>
inline constexpr int stars_of = 0;
template <class T>
inline constexpr int stars_of<T*> = stars_of<T> + 1;
template <class T, std::size_t N>
inline constexpr int stars_of<T[N]> = stars_of<T>;

/// The arguments beside the parts, as a condition.
template <wall_values What, class... Args>
struct wall_options {
  using constant = typename constant_among<Args...>::type;
  static constexpr std::string_view name = What == wall_values::mirrored    ? "mirror"
                                           : What == wall_values::continued ? "outflow"
                                                                            : "fixed";
  static constexpr wall_condition value = [] {
    wall_condition made;
    made.what = What;
    [[maybe_unused]] auto const look = [&]<class A>(std::type_identity<A>) {
      if constexpr (SignOption<A>) {
        for (int const s : A::signs) made.negative |= (s < 0 ? 1U : 0U) << made.signs++;
      } else if constexpr (SideOption<A>) made.sides |= A::sides;
      static_assert(
          Part<A> || SideOption<A> || (SignOption<A> && What == wall_values::mirrored) ||
              (is_constant<A> && What == wall_values::constant),
          "keel::residency: a condition at walls does not take one of its arguments (see the message). Give it "
          "variables, on_side<...>, to mirror sign<...>, to fixed a type with a value.");
    };
    (look(std::type_identity<Args>{}), ...);
    return made;
  }();
};

/// A part whose walls these options fill.
template <Part X, class Options>
struct wall_part : item<X> {
  using of = typename item<X>::variable;
  using data_type = typename of::data_type;
  using element = typename element_of<data_type>::type;
  static constexpr int level = item<X>::level, layers = item<X>::layers;
  /// The dimensions of the grid; a variable may have more, which are not the grid's.
  static constexpr int dimensions =
      of::about.on.along != 0 ? std::popcount(of::about.on.along) : std::min(stars_of<data_type>, max_grid_rank);
  static_assert(of::about.has_ghosts && of::about.on.mesh.empty(),
                "keel::residency: a condition at walls is given for a variable that has none (off the grid, on a mesh, "
                "or without ghosts; it is in the message). Leave it out.");
  static constexpr bool has_sides = [] {
    for (int d = 0; d < max_grid_rank; ++d)
      if ((Options::value.sides >> (2 * d) & 3U) != 0 &&
          (of::about.on.along != 0 ? (of::about.on.along >> d & 1) == 0 : d >= dimensions))
        return false;
    return true;
  }();
  static_assert(has_sides, "keel::residency::on_side: a condition at walls names a dimension that a variable does not "
                           "have (it is in the message; they count from 0). Name one that it has.");
  static_assert(Options::value.signs <= 1 ||
                    (of::about.on.along != 0 ? Options::value.signs == dimensions : Options::value.signs <= dimensions),
                "keel::residency::mirror: too few or too many signs for a variable (it is in the message; there is one "
                "for all dimensions of the grid, or one for each). Give as many.");
  static_assert(Options::value.negative == 0 || addend_of<element> != addend::none,
                "keel::residency::mirror: elements of a variable have no sign (it is in the message; float, double, "
                "integers of 32 and 64 bits and complex numbers have one). Leave sign<-1> out.");

  static_assert(layers != 0,
                "keel::residency: a condition at walls is given for the closure of a variable (which has no "
                "walls; it is in the message). Say the variable, or depth<1, x>.");

  /// Whether some walls are left as they are: those at other ends, or beyond some layers.
  static constexpr bool leaves_sides = Options::value.sides != 0;
  static constexpr bool leaves_layers = layers != all_layers && [] {
    int wide = 0;
    for (int d = 0; d < dimensions; ++d) {
      if (of::about.on.width[d] == lattice::as_grid) return true;
      wide = std::max(wide, int(of::about.on.width[d]));
    }
    return layers < wide;
  }();
  static constexpr bool is_past = Options::value.what == wall_values::past, has_past = level + 1 < of::about.levels;
  static constexpr bool is_copy =
      Options::value.what == wall_values::mirrored || Options::value.what == wall_values::continued;

  static constexpr wall_condition condition = [] {
    wall_condition made = Options::value;
    made.variable = &of::about, made.level = level, made.layers = layers;
    if (made.sides == 0) made.sides = wall_condition::all_sides;
    made.leaves_layers = leaves_layers, made.possible = 0;
    for (int d = 0, k = 0; d < max_grid_rank && k < dimensions; ++d)
      if (of::about.on.along == 0 || (of::about.on.along >> d & 1) != 0) made.possible |= 3U << (2 * d), ++k;
    if constexpr (is_past && !has_past) made.what = wall_values::none;
    if constexpr (Options::value.what == wall_values::constant)
      made.value = &element_with<element, typename Options::constant>;
    return made;
  }();
  static constexpr std::array<declaration, is_past && has_past ? 2 : 1> declared = [] {
    std::array<declaration, is_past && has_past ? 2 : 1> made{};
    declaration& own = made[0];
    own.variable = &of::about, own.level = std::uint8_t(level);
    if (is_past && !has_past) {
      own.reads = region::walls;
      return made;
    }
    own.reads =
        (is_copy ? region::inside : region::none) | (leaves_layers || leaves_sides ? region::walls : region::none);
    own.writes = region::walls;
    if (is_copy) own.read_layers = std::uint8_t(layers);
    if (is_past) made.back() = {&of::about, std::uint8_t(level + 1), region::walls};
    return made;
  }();
};

template <class A>
using is_wall_part = std::bool_constant<Part<A>>;

/// Conditions of one kind for several parts.
template <class Options, class Parts>
struct walls_entry;
template <class Options, class... Xs>
struct walls_entry<Options, keel::list<Xs...>> {
  using parts = keel::list<Xs...>;
  static constexpr auto declared = join(wall_part<Xs, Options>::declared...);
  static constexpr wall_condition conditions[sizeof...(Xs) + 1] = {wall_part<Xs, Options>::condition..., {}};
  static constexpr entry about{.what = entry_kind::walls,
                               .name = Options::name,
                               .where = on_device::where,
                               .first = declared.list.data(),
                               .declaration_count = declared.size,
                               .conditions = conditions};
};
template <wall_values What, class... Args>
using walls_entry_of = walls_entry<wall_options<What, Args...>, policy::filter<keel::list<Args...>, is_wall_part>>;

} // namespace detail

/// Fills the walls of each variable with mirrored values: ghost layer k, counted from the wall, gets those of owned
/// layer k, of a variable that lies on the wall (`at<vertex>`, `at<face<D>>` in dimension D) those of the k-th layer
/// inside of it, and the layer on the wall stays. `mirror<density, energy>`; `mirror<xvel, sign<-1, 1>>` multiplies
/// by -1 what is mirrored in dimension 0; `mirror<x, on_side<0, side::low>>` fills only these walls;
/// `mirror<depth<1, x>>` only the first layer.
///
/// What goes for all conditions: where two walls meet, each is applied, one dimension after another. Where a wall meets
/// the ghosts that a neighbour fills, its values go on along the halo; so that has to be valid, and an exchange comes
/// before. Walls that the entry leaves, at other ends or beyond some layers, stay as they are; if it leaves layers,
/// these have to be written before. A periodic dimension has no walls. The device chosen at the start does it;
/// conditions that follow on each other in a schedule take one kernel. A part may be a level, `past<x, 1>`.
template <class... Args>
struct mirror : detail::walls_entry_of<wall_values::mirrored, Args...> {};
/// Continues outward the owned values nearest to the wall.
template <class... Args>
struct outflow : detail::walls_entry_of<wall_values::continued, Args...> {};
/// The walls keep the values that they had: of the time level one further back, or, of the oldest and only one, what is
/// there. Or they get a constant, `fixed<x, inflow>` with a `struct inflow { static constexpr double value = 2; };`.
template <class... Args>
struct fixed
    : detail::walls_entry_of<(detail::is_constant<Args> || ...) ? wall_values::constant : wall_values::past, Args...> {
};

} // namespace keel::residency
