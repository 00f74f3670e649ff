// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a rank has of a mesh: which elements make each region, and what it exchanges.

#include <keel/impl/layout/decomposition.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/validity/transitions.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

struct elements;

/// Its address stays, because others point to its lists. `rim` are the owned elements that another rank, or this one,
/// has ghosts of.
class mesh_share {
public:
  explicit mesh_share(std::shared_ptr<elements const> of);
  mesh_share(mesh_share const&) = delete;
  mesh_share& operator=(mesh_share const&) = delete;

  [[nodiscard]] std::shared_ptr<elements const> const& all() const { return of_; }
  /// One past the owned elements, then past each layer of ghosts; where these are scattered, their numbers.
  [[nodiscard]] std::span<std::int64_t const> ends() const { return ends_; }
  /// What the rank has of a variable on the mesh; the element of `with_none` is its walls.
  [[nodiscard]] share of_variable(bool has_none = false) const;
  /// What makes a region, walls among them if there are some. Without ghosts all owned elements are core.
  [[nodiscard]] index_sets sets_of(region where, bool has_ghosts) const;
  /// What is exchanged of the first `layers` of ghosts; each component lies on the mesh in the same way.
  [[nodiscard]] decomposition cut(int components, int layers) const;

private:
  std::shared_ptr<elements const> of_;
  std::vector<std::int64_t> ends_;
  element_list core_list_, rim_list_, halo_list_;
  index_set core_, rim_, halo_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/mesh_share.ipp>
#endif
