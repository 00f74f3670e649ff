// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is said of a grid beside its extents.

#include <keel/layout/variable.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace keel::residency {

/// A number for each dimension, or one for all.
template <class T>
struct per_dimension {
  std::array<T, max_grid_rank> values{};
  int given = 0;

  constexpr per_dimension() = default;
  template <std::integral... I>
    requires(sizeof...(I) >= 1 && sizeof...(I) <= std::size_t{max_grid_rank} &&
             ((std::same_as<I, bool> || !std::same_as<T, bool>) && ...))
  constexpr explicit per_dimension(I... n) : values{T(n)...}, given(sizeof...(I)) {}

  [[nodiscard]] constexpr T operator[](int d) const { return values[given == 1 ? 0 : std::size_t(d)]; }
};
/// Layers of ghosts on either side of each dimension; one number goes for all dimensions.
struct ghost_width : per_dimension<int> {
  using per_dimension::per_dimension;
};
/// Which dimensions end where they begin; one answer goes for all dimensions. The others end at walls.
struct periodic : per_dimension<bool> {
  using per_dimension::per_dimension;
};
/// The ranks in each dimension: `ranks_in{1, 1, 4}` cuts only the third one, into four. 0 leaves it to keel.
struct ranks_in : per_dimension<int> {
  using per_dimension::per_dimension;
};

/// Into how many blocks the cells of a rank are cut, each a component of the variables: `blocks{4}`. A routine that is
/// written for one share runs for each of them, one after the other.
struct blocks {
  int of_rank = 1;
};

/// The grid is folded at the upper end of dimension `D`, as tripolar grids of the ocean are: beyond its last row it has
/// the same rows again, backwards and mirrored along dimension `Along`, which is periodic. It turns about a pole that
/// lies as a variable `at` a `Pivot` does: on corners of the uppermost cells, or, on cells, in the middle of their row.
template <int D, class Pivot = vertex, int Along = D == 0 ? 1 : 0>
  requires(D >= 0 && D < max_grid_rank && Along >= 0 && Along < max_grid_rank && D != Along)
struct fold {};
/// The grid is the surface of a cube, as models of the atmosphere have it, its six panels of n x n cells one after the
/// other along dimension 0: `grid{{6 * n, n}, ghost_width{1}, cubed_sphere{}, blocks{6}}`. Ranks times blocks are a
/// multiple of six, so that each block lies on one panel. Even panels, counted from 0, go on to the next one beyond
/// their last row, and to the next but one, turned, beyond their last column; odd ones the other way round. Where three
/// panels meet, ghosts beyond two ends have no owner: an exchange leaves them as they are, or fills them with what lies
/// next to them along dimension `corners_along`.
struct cubed_sphere {
  int corners_along = -1;
};
/// What a `fold` or a `cubed_sphere` says. Negative dimensions: there is none.
struct folding {
  int at = -1, along = -1;
  std::uint8_t longer = 0; ///< how the pivot lies; see `lattice`
  bool is_cube = false;
  int corners_along = -1; ///< of a cube

  /// Whether the pivot is in the middle of cells.
  [[nodiscard]] constexpr bool is_centred(int d) const { return (longer >> d & 1) == 0; }
  friend constexpr bool operator==(folding const&, folding const&) = default;
};

/// Cells along one dimension, of any type of integer.
struct extent {
  std::int64_t cells;
  template <std::integral I>
  // NOLINTNEXTLINE(google-explicit-constructor): `grid{{nx, ny}}`
  constexpr extent(I n) : cells(std::int64_t(n)) {}
};

/// Where the shares begin and end, in each dimension from 0 to its extent: `cuts{{0, 40, 100}, {0, ny}}`. Between two
/// equal numbers a share has no cells, and beyond all shares a rank has none: it takes part, and owns nothing. A
/// dimension without numbers is left to keel, and then there are as many shares as ranks.
struct cuts {
  cuts(std::initializer_list<std::initializer_list<extent>> all) {
    for (auto const& one : all)
      for (auto& to = positions.emplace_back(); extent const& e : one) to.push_back(e.cells);
  }
  explicit cuts(std::vector<std::vector<std::int64_t>> all) : positions(std::move(all)) {}

  std::vector<std::vector<std::int64_t>> positions;
};
/// Those of one dimension; null if the shares are even.
using cut_positions = std::shared_ptr<std::vector<std::int64_t> const>;

/// One of these seven.
struct grid_option {
  grid_option() = default;
  // NOLINTBEGIN(google-explicit-constructor): each of them is an option
  grid_option(ghost_width w) : ghosts(w) {}
  grid_option(periodic p) : wraps(p) {}
  grid_option(ranks_in r) : cut(r) {}
  grid_option(cuts c) : cut_at(std::move(c.positions)) {}
  grid_option(blocks b) : cut_again(b) {}
  grid_option(folding f) : folds(f) {}
  grid_option(cubed_sphere c) : folds{.is_cube = true, .corners_along = c.corners_along} {}
  template <int D, class Pivot, int Along>
  grid_option(fold<D, Pivot, Along>) : folds{D, Along, Pivot::longer} {}
  // NOLINTEND(google-explicit-constructor)

  ghost_width ghosts;
  periodic wraps;
  ranks_in cut;
  std::vector<std::vector<std::int64_t>> cut_at;
  std::optional<blocks> cut_again;
  folding folds;
};

} // namespace keel::residency
