// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Variables as types.

#include <keel/validity/transitions.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// A text that can stand between `<` and `>`: a literal, or what a constant expression finds, such as
/// `D == 0 ? "x" : "height"`, of at most 63 letters.
template <std::size_t N>
struct text {
  char letters[N]{};
  // NOLINTBEGIN(google-explicit-constructor): a literal is a text
  consteval text(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) letters[i] = literal[i];
  }
  template <class Found>
    requires std::convertible_to<Found, std::string_view>
  consteval text(Found found) {
    std::size_t at = 0;
    for (char const letter : std::string_view(found)) letters[at++] = letter, letters[at] = 0; // too many: no constant
  }
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] constexpr std::string_view view() const { return letters; }
};
template <class Found>
  requires(!std::is_array_v<Found> && std::convertible_to<Found const&, std::string_view>)
text(Found const&) -> text<64>;

inline constexpr int max_grid_rank = 4;

/// Where the elements of a variable lie among the cells of the grid, a bit for each dimension; or on which mesh.
struct lattice {
  static constexpr std::int16_t as_grid = -1;
  std::uint8_t longer = 0;              ///< elements lie on the lower ends of cells, and one more at the upper end
  std::uint8_t along = 0;               ///< dimensions that the variable has; all if none
  std::int16_t width[max_grid_rank] = { ///< of its own ghosts
      as_grid, as_grid, as_grid, as_grid};
  std::string_view mesh = {}; ///< empty on the grid
  bool has_none = false;      ///< of a mesh: an element more, after the ghosts
  bool changes_sign = false;  ///< over a fold
  bool turns = false;         ///< at the seams of a cube: elements come in twos, the components of vectors
  bool turns_faces = false;   ///< each lies on the lower face of the cell
  friend constexpr bool operator==(lattice const&, lattice const&) = default;
};

/// What is known of a variable while compiling. Their names distinguish variables: addresses
/// are no constants to a compiler that looks for undefined behaviour.
struct variable_info {
  std::string_view name;
  int levels;
  bool lies_on_grid;
  bool has_ghosts;        ///< and regions; without, all that it has is one
  std::string_view group; ///< empty if it is in none
  std::int64_t padding;   ///< the extent of neighbours in memory is a multiple of it
  lattice on;
  bool is_scratch;   ///< valid within a step only; see `scratch`
  bool is_saved;     ///< by checkpoints
  std::uint64_t key; ///< of the name, so that comparing is cheap

  constexpr variable_info(std::string_view n, int level_count, bool on_grid, std::string_view in = {},
                          bool ghosts = true, std::int64_t multiple = 1, lattice const& which = {},
                          bool ends_with_step = false, bool saved = true)
      : name(n), levels(level_count), lies_on_grid(on_grid), has_ghosts(on_grid && ghosts), group(in),
        padding(multiple), on(which), is_scratch(ends_with_step), is_saved(saved && !ends_with_step),
        key(14695981039346656037U) {
    for (char c : n) key = (key ^ std::uint64_t(static_cast<unsigned char>(c))) * 1099511628211U;
  }
  friend constexpr bool operator==(variable_info const& a, variable_info const& b) {
    return a.key == b.key && a.name == b.name;
  }
};

/// Number of time levels: the current one, 0, and those of the past.
template <int N>
struct levels {
  static_assert(N >= 1 && N <= 255, "keel::residency::levels: not between 1 and 255 (level 0 is the current one). "
                                    "Say levels<1>.");
  static constexpr int count = N;
};
/// Does not lie on the grid: every rank holds all of it, and it has neither rim nor ghosts.
struct off_grid {};
/// Lies on the grid, and no routine needs the cells of neighbours: it has neither rim, halo nor walls, so that `reads`,
/// `writes` and `updates` mean all owned cells. Its arrays are as long as the others', so that indices go for all.
struct without_ghosts {};
/// Is in no checkpoint, because the program makes it again after a restart: lists of local indices, which hold for one
/// cut only, and what a rank has of its own.
struct without_checkpoint {};
/// Where a variable lies: in the middle of cells if it does not say.
struct cell {
  static constexpr std::uint8_t longer = 0;
};
/// On their corners.
struct vertex {
  static constexpr std::uint8_t longer = (1U << max_grid_rank) - 1;
};
/// On their faces normal to dimension `D`.
template <int D>
  requires(D >= 0 && D < max_grid_rank)
struct face {
  static constexpr std::uint8_t longer = 1U << D;
};
/// On their edges along dimension `D`.
template <int D>
  requires(D >= 0 && D < max_grid_rank)
struct edge {
  static constexpr std::uint8_t longer = vertex::longer & ~(1U << D);
};
/// Element i lies on the lower end of cell i, in the dimensions in which `Centring` is not between the ends, and there
/// is one more than cells. Ranks that meet share a layer of elements: the lower rank owns it, and the upper one has it
/// as its first ghost. The last of a periodic dimension is the first one, and belongs to the last rank.
template <class Centring>
struct at {
  static constexpr std::uint8_t longer = Centring::longer;
};
/// Has only these dimensions of the grid, in ascending order, as the widths of the cells along one. Ranks that differ
/// in the others each hold, and write, the same elements.
template <int... Dimensions>
  requires(sizeof...(Dimensions) >= 1 && ((Dimensions >= 0 && Dimensions < max_grid_rank) && ...))
struct along {
  static constexpr std::uint8_t dimensions = ((1U << Dimensions) | ...);
};
/// Layers of ghosts of its own, one for each dimension or one for all, instead of the grid's.
template <int... Widths>
  requires(sizeof...(Widths) >= 1 && sizeof...(Widths) <= std::size_t{max_grid_rank} && ((Widths >= 0) && ...))
struct ghosts {
  static constexpr std::int16_t widths[sizeof...(Widths)] = {std::int16_t{Widths}...}; // clang wants the bound
  static constexpr int given = sizeof...(Widths);
};

/// The extent along which elements are neighbours in memory is rounded up to a multiple of N, so that loops read the
/// arrays in whole packs. Views have the larger extent; bounds stay. Cells of the grid that come of it are in no
/// region: nothing is counted, exchanged or kept there. Levels that come of it are levels like the others, as though
/// `extra` had asked for them.
template <std::int64_t N>
struct padded {
  static_assert(N >= 1, "keel::residency::padded: not above 0 (it is a number of elements). Say padded<64>.");
  static constexpr std::int64_t multiple = N;
};
/// In a group of variables, by whose name a user can mean all of them: `in_group<"hydro">`.
template <text Name>
struct in_group {
  static constexpr std::string_view name = Name.view();
};
/// What a value is multiplied by when it is mirrored, 1 or -1; one number for all dimensions, or one for each that the
/// variable has. Of a variable: where a grid is folded, as for components of vectors. With `mirror`: at walls.
template <int... S>
  requires(sizeof...(S) >= 1 && sizeof...(S) <= std::size_t{max_grid_rank} && ((S == 1 || S == -1) && ...))
struct sign {
  static constexpr int signs[sizeof...(S)] = {S...}; // clang wants the bound
};

/// Its last extent is 2, and counts the components of vectors along dimensions 0 and 1, which turn where panels of a
/// `cubed_sphere` meet. Both are those in the middle of the cell.
struct turns {
  static constexpr bool turns_faces = false;
};
/// Each is that on the lower face of the cell, normal to its dimension, as on a staggered C grid.
struct turns_on_faces {
  static constexpr bool turns_faces = true;
};

namespace detail {
/// What elements are added as. A complex number is two of its parts; sums of integers do not depend on their sign.
enum class addend : std::uint8_t { none, float64, float32, int64, int32 };
template <class T>
inline constexpr addend addend_of = [] {
  if (std::is_floating_point_v<T>)
    return sizeof(T) == 8 ? addend::float64 : sizeof(T) == 4 ? addend::float32 : addend::none;
  if (!std::is_integral_v<T>) return addend::none;
  return sizeof(T) == 8 ? addend::int64 : sizeof(T) == 4 ? addend::int32 : addend::none;
}();
template <template <class...> class Complex, class T>
  requires(sizeof(Complex<T>) == 2 * sizeof(T)) && requires(Complex<T> z) { z.real(), z.imag(); }
inline constexpr addend addend_of<Complex<T>> = addend_of<T>;

template <class Data>
struct element_of : std::type_identity<Data> {};
template <class T>
struct element_of<T*> : element_of<T> {};
template <class T, std::size_t N>
struct element_of<T[N]> : element_of<T> {};

/// What makes a variable a scratch.
struct ends_with_step {};
/// What the properties of a variable say.
template <class... Properties>
constexpr variable_info about_of(std::string_view name, bool is_array) {
  int level_count = 1;
  std::int64_t padding = 1;
  std::string_view group;
  lattice on;
  [[maybe_unused]] auto const look = [&]<class P>(std::type_identity<P>) {
    if constexpr (requires { P::longer; }) on.longer = P::longer;
    if constexpr (requires { P::dimensions; }) on.along = P::dimensions;
    if constexpr (requires { P::widths; })
      for (int d = 0; d < max_grid_rank; ++d) on.width[d] = P::widths[P::given == 1 ? 0 : d < P::given ? d : 0];
    if constexpr (requires { P::signs; }) {
      static_assert(sizeof(P::signs) == sizeof(int),
                    "keel::residency::variable: several signs of one variable (a fold turns all dimensions; it is in "
                    "the message). Say sign<-1>.");
      on.changes_sign = P::signs[0] < 0;
    }
    if constexpr (requires { P::turns_faces; }) on.turns = true, on.turns_faces = P::turns_faces;
    if constexpr (requires { P::count; }) level_count *= P::count;
    if constexpr (requires { P::multiple; }) padding *= P::multiple;
    if constexpr (requires { P::name; }) group = P::name;
    if constexpr (requires { P::mesh_name; }) on.mesh = P::mesh_name, on.has_none = P::has_none;
  };
  (look(std::type_identity<Properties>{}), ...);
  return {name,
          level_count,
          is_array && !(std::is_same_v<Properties, off_grid> || ...),
          group,
          !(std::is_same_v<Properties, without_ghosts> || ...),
          padding,
          on,
          (std::is_same_v<Properties, ends_with_step> || ...),
          !(std::is_same_v<Properties, without_checkpoint> || ...)};
}
} // namespace detail

/// A variable: `struct eta : variable<"eta", double**, levels<3>> {};`
///
/// `Data` is Kokkos' data type: the element, and a star for each dimension. The first
/// dimensions are the grid's, the lengths of the others are given with the fields. Properties
/// are `levels<N>`, `at<...>`, `along<D...>`, `ghosts<W...>`, `sign<-1>`, `turns`, `turns_on_faces`, `on_mesh<M>`,
/// `in_group<"...">`, `off_grid`, `without_ghosts`, `without_checkpoint` and `padded<N>`; a scalar is off the grid by
/// nature.
template <text Name, class Data, class... Properties>
struct variable {
  using data_type = Data;
  static constexpr bool is_array = std::is_pointer_v<std::remove_all_extents_t<Data>> || std::is_array_v<Data>;
  static constexpr variable_info about = detail::about_of<Properties...>(Name.view(), is_array);
  static_assert(is_array || about.padding == 1,
                "keel::residency::variable: a scalar is padded (it has no neighbours in memory). Leave padded<N> out.");
  static_assert(about.on.mesh.empty() ||
                    (about.lies_on_grid && lattice{.mesh = about.on.mesh, .has_none = about.on.has_none} == about.on),
                "keel::residency::variable: a variable on a mesh lies in a way that only grids have, or is a scalar "
                "(see the variable in the message). Leave at, along, ghosts, sign and off_grid out.");
  static_assert(!about.on.changes_sign ||
                    detail::addend_of<typename detail::element_of<Data>::type> != detail::addend::none,
                "keel::residency::variable: elements have no sign (it is in the message; float, double, integers of 32 "
                "and 64 bits and complex numbers have one). Leave sign<-1> out.");
  static_assert(!about.on.turns || (std::extent_v<Data, (std::rank_v<Data> > 0 ? std::rank_v<Data> - 1 : 0)> == 2 &&
                                    about.padding == 1 &&
                                    detail::addend_of<typename detail::element_of<Data>::type> != detail::addend::none),
                "keel::residency::variable: what turns is no vector of two components (it is in the message; they are "
                "the last extent, and have a sign). Say double**[2], and leave padded<N> out.");
};

/// A variable for intermediate values, `struct flux : scratch<"flux", double**, at<face<0>>> {};`, listed and declared
/// as others are. It is valid from the entry that writes it to the last one that reads it, within a step or a `run`; it
/// has one level and is never copied between memories. Scratches of a schedule that are never valid at the same time
/// share memory, so no view of one is to be kept. Properties are those of a variable, without `levels<N>`.
template <text Name, class Data, class... Properties>
struct scratch : variable<Name, Data, detail::ends_with_step, Properties...> {
  static_assert(
      variable<Name, Data, detail::ends_with_step, Properties...>::about.levels == 1,
      "keel::residency::scratch: a scratch with levels of the past (nothing of it is left in the next step; it "
      "is in the message). Leave levels<N> out, or make it a variable.");
};

/// A type that is a variable.
template <class V>
concept Variable = requires {
  typename V::data_type;
  { V::about } -> std::same_as<variable_info const&>;
};

namespace detail {

/// What elements are in files: numbers of the kinds that files have, or bytes. A complex number is two of its parts.
enum class number_kind : std::uint8_t { floating, integer, natural, none };
template <class T>
inline constexpr number_kind number_kind_of = std::is_floating_point_v<T> && sizeof(T) <= 8 ? number_kind::floating
                                              : !std::is_integral_v<T> || sizeof(T) > 8     ? number_kind::none
                                              : std::is_signed_v<T>                         ? number_kind::integer
                                                                                            : number_kind::natural;
template <template <class...> class Complex, class T>
  requires(sizeof(Complex<T>) == 2 * sizeof(T)) && requires(Complex<T> z) { z.real(), z.imag(); }
inline constexpr number_kind number_kind_of<Complex<T>> = number_kind_of<T>;

} // namespace detail

} // namespace keel::residency
