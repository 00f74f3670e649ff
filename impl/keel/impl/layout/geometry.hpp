// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An index space that variables lie on, and how ranks cut it, whatever it is. Its models are a folder each: `grid`,
/// `mesh`; test/curve shows one of an application's own.

#include <keel/impl/layout/decomposition.hpp>
#include <keel/impl/layout/index_set.hpp>
#include <keel/layout/grid.hpp>
#include <keel/validity/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keel::machine {
class agreement;
}

namespace keel::residency::detail {

struct elements;

using share_list = std::vector<share>; ///< by component, or one for all
[[nodiscard]] inline share const& share_in(share_list const& all, component which) {
  return all[all.size() == 1 ? 0 : std::size_t(which.index)];
}

/// A box of local elements, which is one of the whole, the elements of all ranks as one array.
struct placed_box {
  struct stretch {
    std::int64_t begin = 0, count = 0;
    std::int64_t first = 0; ///< in the whole
  };
  stretch along[max_grid_rank];
};

/// What variables have in common that lie in the same way. On a grid, shares have as many dimensions as it; elsewhere
/// one, in which owned elements come first, then ghosts layer by layer, unless these are scattered.
class geometry {
public:
  explicit geometry(lattice const& as) : on(as) {}
  virtual ~geometry() = default;
  geometry(geometry const&) = delete;
  geometry& operator=(geometry const&) = delete;

  lattice on;
  share_list shares; ///< what this rank has of such a variable

  [[nodiscard]] share const& local(component which) const { return share_in(shares, which); }
  /// What messages call such an index space.
  [[nodiscard]] virtual std::string_view kind() const = 0;
  /// What tells it apart from others, in a file.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Layers of ghosts.
  [[nodiscard]] virtual int layers() const = 0;
  /// Whether a routine may read so many.
  [[nodiscard]] virtual bool has_layers(int n) const { return n <= layers(); }
  /// The elements that a routine may touch which asks for this.
  [[nodiscard]] virtual bounds reach(share const& part, request const& asked, bool has_ghosts) const = 0;
  /// The owned elements that belong to these owned cells of the grid. Throws `keel::error` if they are no range.
  [[nodiscard]] virtual bounds owned_in(bounds const& cells, component which) const = 0;
  /// What makes a region of one of the shares. Without ghosts all owned elements are core.
  [[nodiscard]] virtual index_sets sets_of(share const& part, region where, bool has_ghosts) const = 0;
  /// What `rank` exchanges of the first `layers` of ghosts. Kept, of as many components as the first time.
  [[nodiscard]] decomposition const& cut(int components, int rank, int layers) const {
    std::size_t const at = layers < this->layers() ? std::size_t(layers) + 1 : 0;
    if (at >= cuts_.size()) cuts_.resize(at + 1);
    if (cuts_[at] == nullptr)
      cuts_[at] = std::make_unique<decomposition>(make_cut(components, rank, at == 0 ? all_layers : layers));
    return *cuts_[at];
  }
  /// The elements, if they have ids, by which the whole is ordered; else null, and their places say the order.
  [[nodiscard]] virtual elements const* with_ids() const { return nullptr; }
  /// How many elements the whole has in each dimension. With walls it begins where they do.
  [[nodiscard]] virtual indices whole_extents(component which, bool has_walls) const = 0;
  /// Where owned elements, walls, or both lie in it. `once`: without what another rank or block has.
  [[nodiscard]] virtual std::vector<placed_box> places(component which, bool has_walls, region where,
                                                       bool once) const = 0;

  /// What lies so on other shares of the grid; null if it does not lie on it. `variable` is in messages.
  [[nodiscard]] virtual std::shared_ptr<geometry const>
  laid_on([[maybe_unused]] std::shared_ptr<share_list const> cells, [[maybe_unused]] std::string_view variable) const {
    return nullptr;
  }

private:
  [[nodiscard]] virtual decomposition make_cut(int components, int rank, int layers) const = 0;

  mutable std::vector<std::unique_ptr<decomposition>> cuts_; // with all layers, then by their number
};

/// What fields and exchangers are given of an index space beside the grid: it makes the geometries of variables on it.
class index_space {
public:
  index_space() = default;
  virtual ~index_space() = default;
  index_space(index_space const&) = delete;
  index_space& operator=(index_space const&) = delete;

  [[nodiscard]] virtual std::shared_ptr<geometry const> lay(lattice const& as) const = 0;
  /// A number that all ranks have, and another cut has not.
  [[nodiscard]] virtual std::uint64_t digest() const = 0;
  /// Throws `keel::error` in the name of `who` unless it was made on these ranks.
  virtual void require_ranks(machine::agreement const& ranks, std::string_view who) const = 0;
  /// See `geometry`. Such elements may move to other ranks.
  [[nodiscard]] virtual std::shared_ptr<elements const> with_ids() const { return nullptr; }
};

} // namespace keel::residency::detail
