// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The seams of a `cubed_sphere`: which cells of other panels lie beyond the ends of one.

#include <keel/impl/layout/grid/grid_cut.hpp>
#include <keel/impl/layout/index_set.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace keel::residency::detail {

/// Where the elements of a panel, or beyond its ends, are found.
struct cube_way {
  int panel;
  std::int64_t at[2] = {0, 0}; ///< index e there is at[e] + of[e] times that along dimension along[e] here
  int of[2] = {1, 1}, along[2] = {0, 1};
  int part = -1; ///< the component of vectors, -1 of what is none
  bool changes_sign = false;

  [[nodiscard]] bool is_here() const { return along[0] == 0 && at[0] == 0 && at[1] == 0; }
  /// The first and one past the last, of a box of such elements.
  [[nodiscard]] bounds image(bounds const& box) const;
  /// Further over an end of its panel of n x n cells.
  [[nodiscard]] cube_way across(int d, side s, std::int64_t n, bool is_on_faces) const;
};
/// Where a corner of cells lies on a sphere of radius 1, `at` from 0 to n along each dimension of a panel. Angles
/// between corners are equal.
[[nodiscard]] std::array<double, 3> point_on_sphere(int panel, std::array<std::int64_t, 2> at, std::int64_t n);
/// A box of elements, counted from the first one of their panel, that are found in the same way on one panel.
struct cube_zone {
  bounds box;
  cube_way way;
  int part; ///< the component of vectors, as they have it
};
/// By panel, all of it and the layers around it, of a variable or of both components of vectors. Elements without an
/// owner are in none.
using cube_seams = std::array<std::vector<cube_zone>, panels>;
[[nodiscard]] cube_seams seams_of(share const& s, lattice const& as);

/// Ghosts that one share has of another: local boxes of both, and how the owner goes through its own.
struct cube_piece {
  bounds ghosts, owned;
  origin_steps steps_of_ghosts, steps;
  bool changes_sign;
};
/// What the share at `here` has of what the one at `there` owns, up to so many layers. Both find the same in one order.
[[nodiscard]] std::vector<cube_piece> shared_on_cube(share const& s, cube_seams const& seams, indices const& here,
                                                     indices const& there, int layers);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/grid/cube.ipp>
#endif
