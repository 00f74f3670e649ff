// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a rank has of a mesh: which elements make each region, and what it exchanges.

#include <keel/impl/layout/geometry.hpp>
#include <keel/policy/macros.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

struct elements;

/// Which elements make each region, of all variables on a mesh. The core, which may have millions, is listed when it is
/// first asked for.
class mesh_regions {
public:
  explicit mesh_regions(elements const& of);
  /// `of` as in the constructor.
  [[nodiscard]] index_set const& core(elements const& of) const;
  [[nodiscard]] index_set const& rim() const { return rim_; }
  [[nodiscard]] index_set const& halo() const { return halo_; }

private:
  element_list rim_list_, halo_list_;
  index_set rim_, halo_;
  mutable std::once_flag is_core_listed_;
  mutable element_list core_list_;
  mutable index_set core_;
};

/// `rim` are the owned elements that another rank, or this one, has ghosts of; the element of `with_none` is the walls.
/// Each component lies on the mesh in the same way.
class mesh_share : public geometry {
public:
  explicit mesh_share(std::shared_ptr<elements const> of, lattice const& as = {},
                      std::shared_ptr<mesh_regions const> regions = nullptr);

  [[nodiscard]] std::string_view kind() const override { return "mesh"; }
  [[nodiscard]] std::string text() const override { return "the mesh " + std::string(on.mesh); }
  [[nodiscard]] int layers() const override { return int(ends_.size()) - 1; }
  /// A mesh on one rank need not have any.
  [[nodiscard]] bool has_layers(int n) const override { return n <= layers() || layers() == 0; }
  [[nodiscard]] bounds reach(share const& part, request const& asked, bool has_ghosts) const override;
  [[nodiscard]] bounds owned_in(bounds const& cells, component which) const override;
  [[nodiscard]] index_sets sets_of(share const& part, region where, bool has_ghosts) const override;
  [[nodiscard]] elements const* with_ids() const override { return of_.get(); }
  [[nodiscard]] indices whole_extents(component which, bool has_walls) const override;
  [[nodiscard]] std::vector<placed_box> places(component which, bool has_walls, region where, bool once) const override;

private:
  [[nodiscard]] decomposition make_cut(int components, int rank, int layers) const override;

  std::shared_ptr<elements const> of_;
  std::vector<std::int64_t> ends_; // one past the owned elements, then past each layer of ghosts
  std::shared_ptr<mesh_regions const> regions_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/mesh/mesh_share.ipp>
#endif
