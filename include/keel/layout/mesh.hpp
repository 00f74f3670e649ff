// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Index spaces whose neighbours are lists.

#include <keel/layout/variable.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace keel::residency {

/// Elements that are told apart by an id, such as the cells, edges or vertices of an uneven mesh, or particles:
/// `struct cells : kr::mesh<"cells"> {};`. Which rank has which of them, `partition<cells>` says.
template <text Name>
struct mesh {
  using mesh_type = mesh;
  static constexpr std::string_view name = Name.view();
};

template <class M>
concept Mesh = std::is_empty_v<M> && requires { typename M::mesh_type; };

template <Mesh M>
class partition;

namespace detail {
/// The mesh that an option is a partition of; empty if it is none.
template <class Option>
inline constexpr std::string_view mesh_of_option{};
template <Mesh M>
inline constexpr std::string_view mesh_of_option<partition<M>> = M::name;

template <class Option>
inline constexpr bool is_partition = !mesh_of_option<Option>.empty();
} // namespace detail

/// Puts a variable on a mesh: its first index counts the elements, owned ones first, then ghosts layer by layer.
template <Mesh M>
struct on_mesh {
  static constexpr std::string_view mesh_name = M::name;
};

/// Local indices of elements of a mesh, half open: `begin <= i < end`.
struct element_range {
  std::int64_t begin = 0, end = 0;

  [[nodiscard]] constexpr std::int64_t size() const { return end - begin; }
  friend constexpr bool operator==(element_range const&, element_range const&) = default;
};

} // namespace keel::residency
