// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Index spaces whose neighbours are lists.

#include <keel/layout/variable.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// Says of a mesh that its arrays have one element more, after the ghosts, as MPAS and Omega have it: the neighbour of
/// those that lack one. It is no element of the partition.
struct with_none {};

/// Says of a mesh that a rank may have an element in several layers of ghosts: images of it, as in a periodic box that
/// is smaller than what its elements see.
struct with_images {};

/// Elements that are told apart by an id, such as the cells, edges or vertices of an uneven mesh, or particles:
/// `struct cells : kr::mesh<"cells"> {};`. Which rank has which of them, `partition<cells>` says.
/// Properties are `with_none` and `with_images`.
template <text Name, class... Properties>
struct mesh {
  static_assert(((std::is_same_v<Properties, with_none> || std::is_same_v<Properties, with_images>) && ...),
                "keel::residency::mesh: a property that a mesh does not have (it is in the message). Say with_none or "
                "with_images.");
  using mesh_type = mesh;
  static constexpr std::string_view name = Name.view();
  static constexpr bool has_none = (std::is_same_v<Properties, with_none> || ...);
  static constexpr bool has_images = (std::is_same_v<Properties, with_images> || ...);
};

template <class M>
concept Mesh = std::is_empty_v<M> && requires { typename M::mesh_type; };

template <Mesh M>
class partition;

/// So many elements of a list become ghosts of a rank.
struct ghosts_of {
  int rank;
  std::int64_t count;
};

namespace detail {
/// The mesh that an option cuts, as a partition does; empty if it cuts none.
template <class Option>
inline constexpr std::string_view mesh_of_option{};
template <Mesh M>
inline constexpr std::string_view mesh_of_option<partition<M>> = M::name;
template <class Option>
  requires Mesh<typename Option::cut_mesh>
inline constexpr std::string_view mesh_of_option<Option> = Option::cut_mesh::name;

template <class Option>
inline constexpr bool is_partition = false;
template <Mesh M>
inline constexpr bool is_partition<partition<M>> = true;
} // namespace detail

/// Puts a variable on a mesh: its first index counts the elements, owned ones first, then ghosts layer by layer.
template <Mesh M>
struct on_mesh {
  static constexpr std::string_view mesh_name = M::name;
  static constexpr bool has_none = M::has_none;
};

namespace detail {
template <Mesh M>
[[nodiscard]] constexpr lattice lattice_on() {
  lattice on;
  on.mesh = M::name, on.has_none = M::has_none;
  return on;
}
} // namespace detail

/// Local indices of elements of a mesh, half open: `begin <= i < end`.
struct element_range {
  std::int64_t begin = 0, end = 0;

  [[nodiscard]] constexpr std::int64_t size() const { return end - begin; }
  friend constexpr bool operator==(element_range const&, element_range const&) = default;
};

} // namespace keel::residency
