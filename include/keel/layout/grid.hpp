// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The grid that variables lie on, and a rank's share of it. Only arithmetic: no communication,
/// no allocation, the same answer on every rank.

#include <keel/layout/grid_options.hpp>
#include <keel/layout/variable.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency {

inline constexpr int max_rank = 8; ///< of an array, as in Kokkos

/// An index for each dimension of the grid, usable in device code, and convertible to the
/// `Kokkos::Array` or `std::array` that Kokkos' multi-dimensional policies take. Dimensions that
/// the grid lacks are 0.
struct indices {
  std::int64_t values[max_grid_rank]{};

  KEEL_FUNCTION constexpr std::int64_t operator[](int d) const { return values[d]; }
  KEEL_FUNCTION constexpr std::int64_t& operator[](int d) { return values[d]; }
  friend constexpr bool operator==(indices const&, indices const&) = default;

  template <template <class, std::size_t, class...> class Array, std::integral I, std::size_t N, class... More>
    requires(N >= 1 && N <= std::size_t{max_grid_rank})
  // NOLINTNEXTLINE(google-explicit-constructor): made to be passed
  constexpr operator Array<I, N, More...>() const {
    Array<I, N, More...> a{};
    for (std::size_t d = 0; d < N; ++d) a[d] = I(values[d]);
    return a;
  }
};

/// A box of local indices, half open: `begin[d] <= i < end[d]`.
struct bounds {
  indices begin, end;

  friend constexpr bool operator==(bounds const&, bounds const&) = default;
  [[nodiscard]] constexpr std::int64_t size(int rank) const {
    std::int64_t cells = 1;
    for (int d = 0; d < rank; ++d) cells *= end[d] > begin[d] ? end[d] - begin[d] : 0;
    return cells;
  }
};

enum class side : std::uint8_t { low = 0, high = 1 };

/// A grid, whole: `grid{{nx, ny}, ghost_width{1, 1}, periodic{true, false}}`. Extents are global
/// and count no ghosts. The options are `ghost_width`, `periodic`, `ranks_in` or `cuts`, `blocks` and `fold` or
/// `cubed_sphere`, in any order.
/// Throws `keel::error` if an extent is below one or below the ghost width, a width is negative, or the numbers given
/// do not go with each other.
class grid {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): a list of extents is a grid
  grid(std::initializer_list<extent> extents, grid_option first = {}, grid_option second = {}, grid_option third = {},
       grid_option fourth = {}, grid_option fifth = {});

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] indices const& extents() const { return extents_; }
  [[nodiscard]] int width(int d) const { return width_[d]; }
  [[nodiscard]] bool is_periodic(int d) const { return periodic_[d]; }
  /// The ranks that the caller wants in a dimension; 0 if keel chooses.
  [[nodiscard]] int ranks_wanted(int d) const { return ranks_[d]; }
  [[nodiscard]] cut_positions const& cuts_in(int d) const { return cuts_[std::size_t(d)]; }
  /// Blocks that the cells of each rank are cut into.
  [[nodiscard]] int blocks() const { return blocks_; }
  [[nodiscard]] folding const& folds() const { return folds_; }

private:
  int rank_;
  indices extents_;
  ghost_width width_;
  periodic periodic_;
  ranks_in ranks_;
  std::array<cut_positions, max_grid_rank> cuts_;
  int blocks_ = 1;
  folding folds_;
};

/// What one rank has of a grid, or of a variable on it; or a block of it. Local indices count ghosts. If the
/// rank owns no cells, it has no ghosts, too, and local bounds are empty.
struct share {
  int rank = 0;                                              ///< dimensions
  indices global_extents;                                    ///< of the whole grid, without ghosts
  indices global_begin;                                      ///< global index of the first owned element
  indices extents;                                           ///< local, with ghosts
  indices width;                                             ///< of the ghosts
  indices longer;                                            ///< 1 if elements lie on the ends of cells; see `at`
  std::array<bool, max_grid_rank> wraps{};                   ///< periodic
  std::array<std::array<int, 2>, max_grid_rank> neighbour{}; ///< rank on each side; -1 at a wall
  indices processes, position; ///< the ranks as a grid, and where this one is; -1 if it has no place there
  indices step;                ///< what a step to the next position adds to the rank
  bool has_cells = true;
  std::array<cut_positions, max_grid_rank> cuts; ///< where the shares of ranks, or all blocks, begin, if not evenly
  indices blocks, block;  ///< the blocks of each rank as a grid, and which of them this is; one, if there are no more
  indices block_step;     ///< what a step to the next block adds to the component
  folding folds;          ///< of the whole grid
  bool is_folded = false; ///< whether this share ends at the fold, which is then its neighbour there
  region regions = region::core; ///< those that a share of this grid can have, however many ranks cut it
  /// For a variable on a mesh, whose one dimension counts elements: one past the owned ones, then past each layer of
  /// ghosts. Empty on a grid.
  std::span<std::int64_t const> ends = {};

  [[nodiscard]] bool is_wall(int d, side s) const { return neighbour[std::size_t(d)][std::size_t(s)] < 0; }
  /// Whether another rank has what lies on that side.
  [[nodiscard]] bool is_cut(int d, side s) const {
    if (folds.is_cube) return processes[0] * processes[1] > 1; // maybe another one
    bool const is_at_fold = is_folded && d == folds.at && s == side::high;
    return processes[is_at_fold && folds.along >= 0 ? folds.along : d] > 1 && !is_wall(d, s) &&
           block[d] == (s == side::low ? 0 : blocks[d] - 1);
  }
  /// The rows that the fold is in the middle of, which nobody has as ghosts.
  [[nodiscard]] int rows_on_fold(int d) const { return is_folded && d == folds.at && folds.is_centred(d) ? 1 : 0; }
  /// How many shares there are along a dimension, blocks of all ranks, and which of them this is.
  [[nodiscard]] std::int64_t parts(int d) const { return processes[d] * blocks[d]; }
  [[nodiscard]] std::int64_t place(int d) const { return position[d] * blocks[d] + block[d]; }
  [[nodiscard]] bounds everywhere() const { return {{}, extents}; }
  [[nodiscard]] bounds owned() const;
  /// The owned elements without the rim: those that a neighbour has among its ghosts are left out. Of a mesh all owned
  /// ones, because those without the rim are no box.
  [[nodiscard]] bounds core() const;
  /// The owned elements and so many layers of ghosts, walls among them; none: those that lie on the owned cells, see
  /// `closure`.
  [[nodiscard]] bounds within(int layers) const;
  /// The owned elements and the halo. The walls are left out.
  [[nodiscard]] bounds inside() const;
};

/// The ranks as a grid of processes: of all ways to write `ranks` as a product that leave each at least as many cells
/// as ghosts in each dimension, the one with the least ghosts to exchange, or, if the grid has no ghosts, the least
/// cells at the cuts; of equals, the one that cuts the first dimension; the grid's own, if it has `ranks_in` or `cuts`,
/// which may be for fewer ranks. Throws `keel::error` if there is none.
[[nodiscard]] indices processes_for(grid const& g, int ranks);

/// How the share of a rank is cut into blocks: of all ways that leave each at least as many cells as ghosts in each
/// dimension, the one with the fewest ghosts. Throws `keel::error` if there is none.
[[nodiscard]] indices blocks_for(grid const& g, indices const& processes);

/// The share of `rank`, or that block of it; extents that do not divide evenly give the first ranks, and their first
/// blocks, one cell more.
[[nodiscard]] share share_of(grid const& g, int ranks, int rank, int block = 0);
/// What a rank that has this share of the grid has of a variable that lies on it so. Throws `keel::error` if the grid
/// lacks a dimension, or if ranks or blocks have fewer cells than the ghosts are wide.
[[nodiscard]] share share_of(share const& cells, lattice const& on, std::string_view variable);

/// Lengths of the dimensions beyond the grid's: `extra<u>{layers}`. A variable without an
/// `extra` of its own takes the first given that has as many lengths.
template <Variable... Vs>
struct extra {
  std::array<std::int64_t, max_rank> lengths{};
  int given = 0;

  template <std::integral... I>
    requires(sizeof...(I) <= std::size_t{max_rank})
  constexpr explicit extra(I... n) : lengths{std::int64_t(n)...}, given(sizeof...(I)) {}
};

/// With the fields: how many components (levels of refinement, members of an ensemble)
/// each variable has. In `v(eta{}, component{i})`: which one.
struct components {
  int count = 1;
};
struct component {
  int index = 0;
};
/// With the fields instead of `components`, if these differ in size: the grids of the components after the first,
/// which lies on the fields' own. All have as many dimensions, and each is cut over all ranks.
struct further_grids {
  std::vector<grid> grids;
};

/// A component as `f.regrid` makes it, a level or a block of a refined grid: `patch{fine, 1, {8, 0}}`.
struct patch {
  grid whole;      ///< cut over all ranks
  int from = -1;   ///< the component whose values it takes; none: it has none
  indices shift{}; ///< of the cells: where the first of `whole` lies, counted from the first of `from`
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/layout/grid.ipp>
#endif
