// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a rank has of a grid: what it exchanges, and where its elements lie in the whole.

#include <keel/impl/layout/geometry.hpp>
#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/policy/macros.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// How a variable with these shares, by component or one for all, is cut: the first `layers` of its ghosts. They may be
/// wider than what a neighbour owns; then they come from several.
[[nodiscard]] decomposition decomposition_of(std::span<share const> shares, int components, int rank,
                                             int layers = all_layers, lattice const& as = {});

/// `cells` are the shares of the grids of all components, of a variable that lies so on them.
class grid_share : public geometry {
public:
  grid_share(std::shared_ptr<share_list const> cells, lattice const& as, std::string_view variable);

  [[nodiscard]] std::string_view kind() const override { return "grid"; }
  [[nodiscard]] std::string text() const override;
  [[nodiscard]] int layers() const override;
  [[nodiscard]] bounds reach(share const& part, request const& asked, bool has_ghosts) const override;
  [[nodiscard]] bounds owned_in(bounds const& cells, component which) const override;
  [[nodiscard]] index_sets sets_of(share const& part, region where, bool has_ghosts) const override {
    return boxes_of(part, where, has_ghosts);
  }
  [[nodiscard]] indices whole_extents(component which, bool has_walls) const override;
  [[nodiscard]] std::vector<placed_box> places(component which, bool has_walls, region where, bool once) const override;
  [[nodiscard]] std::shared_ptr<geometry const> laid_on(std::shared_ptr<share_list const> cells,
                                                        std::string_view variable) const override {
    return std::make_shared<grid_share const>(std::move(cells), on, variable);
  }

private:
  [[nodiscard]] decomposition make_cut(int components, int rank, int layers) const override {
    return decomposition_of(shares, components, rank, layers, on);
  }

  std::shared_ptr<share_list const> cells_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/grid/grid_share.ipp>
#endif
