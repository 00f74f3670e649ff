// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of `fields` say: components, grids, lengths.

#include <keel/impl/layout/lengths.hpp>
#include <keel/impl/layout/arguments.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/policy/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace keel::residency::detail {

/// Blocks are the components, and only of a grid.
template <class Option>
void check_beside_blocks(Option const& option) {
  if constexpr (std::is_same_v<Option, components>) {
    if (option.count == 1) return;
  }
  if constexpr (std::is_same_v<Option, components> || std::is_same_v<Option, further_grids>)
    throw error("residency::fields", "a grid in blocks is given with components or further_grids",
                "each block is a component", "Leave one of them out");
  if constexpr (!mesh_of_option<Option>.empty())
    throw error("residency::fields", "a grid in blocks is given with the mesh " + std::string(mesh_of_option<Option>),
                "a mesh is not cut into blocks", "Give it fields of its own, or leave blocks out");
}

/// The components asked for among the options of the fields.
template <class... Options>
int components_in(grid const& whole, Options const&... options) {
  if (whole.blocks() > 1) {
    (check_beside_blocks(options), ...);
    return whole.blocks();
  }
  int count = 1;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, components>) count = option.count;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>)
      count = 1 + int(option.grids.size());
  };
  (look(options), ...);
  if (count < 1 || count > most_components)
    throw error("residency::fields", "components{" + std::to_string(count) + "} are refused",
                count < 1 ? "a variable has at least one" : "a variable has at most " + std::to_string(most_components),
                count < 1 ? "Give 1 or more" : "Give fewer");
  return count;
}

/// The grids of the components after the first, if they are not alike.
template <class... Options>
std::span<grid const> further_in(Options const&... options) {
  std::span<grid const> further;
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, further_grids>) further = option.grids;
  };
  (look(options), ...);
  return further;
}

/// What options say, each as an argument of a collective call.
struct said_of_fields {
  std::array<argument, 2> counted{{{"numbers of components"}, {"lengths"}}};
  grid_arguments of_grids;

  void add(components const& option) { counted[0].add(option.count); }
  void add(further_grids const& option) {
    counted[0].add(std::int64_t(option.grids.size()));
    for (grid const& g : option.grids) of_grids.add(g);
  }
  template <class... Vs>
  void add(extra<Vs...> const& option) {
    counted[1].add(option.given);
    for (int d = 0; d < option.given; ++d) counted[1].add(option.lengths[std::size_t(d)]);
  }
  template <class Option>
  void add(Option const&) {}
};

/// Throws the same `keel::error` on every rank unless all make fields of the same options. Collective; takes no memory.
template <class Environment, class... Options>
void require_same_options(Environment const& env, grid const& whole, Options const&... options) {
  said_of_fields said;
  said.of_grids.add(whole);
  (said.add(options), ...);
  machine::agreement const ranks(env);
  require_alike(ranks, "residency::fields", "the fields are not made", said.counted);
  require_alike(ranks, "residency::fields", "the fields are not made", said.of_grids.all);
}

/// The grid among the arguments of fields; without one, a grid without dimensions.
template <class... Options>
grid grid_in(Options const&... options) {
  grid whole{};
  [[maybe_unused]] auto const look = [&](auto const& option) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(option)>, grid>) whole = option;
  };
  (look(options), ...);
  return whole;
}

template <class Variable, class... Options>
inline constexpr bool is_placed =
    Variable::about.on.mesh.empty() ? (std::is_same_v<Options, grid> || ...) || !Variable::about.lies_on_grid
                                    : ((mesh_of_option<Options> == Variable::about.on.mesh) + ... + 0) == 1;
/// Stops the compiler if a variable lies on what these arguments of fields do not have.
template <class Variable, class... Options>
consteval void require_place() {
  static_assert(is_placed<Variable, Options...>,
                "keel::residency::fields: a variable lies on a mesh or a grid that these fields do not have, or have "
                "twice (see the variable in the message). Pass its partition, or the grid, once.");
}

/// Adds the mesh that an option cuts.
template <class Option>
void add_mesh_in([[maybe_unused]] fields_state& to, [[maybe_unused]] Option const& option) {
  if constexpr (!mesh_of_option<Option>.empty()) to.arrays_.add_mesh(mesh_of_option<Option>, option.space());
}

/// How many variables an option names.
template <class Option>
inline constexpr std::size_t variables_in = 0;
template <class... Vs>
inline constexpr std::size_t variables_in<extra<Vs...>> = sizeof...(Vs);

/// What an option says of the lengths of a variable.
template <class Option>
lengths_given lengths_in(Option const&, variable_info const&) {
  return {};
}
template <class... Vs>
lengths_given lengths_in(extra<Vs...> const& option, [[maybe_unused]] variable_info const& v) {
  return {option.lengths.data(), option.given, ((Vs::about == v) || ...)};
}

} // namespace keel::residency::detail
