// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The box of the atoms: a periodic cube that is cut into bricks, one a rank. Depends only on the standard library.

#include <keel/policy/macros.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace particles {

// What the input in.lj of ExaMiniMD says, in units of Lennard and Jones.
inline constexpr double density = 0.8442, temperature = 1.4, mass = 2, cutoff = 2.5, time_step = 0.005;
inline constexpr double reach = cutoff + 0.3; ///< of lists of neighbours: pairs as close as this when lists are made
inline constexpr int steps_between_lists = 20, rebuilds_between_sorts = 10, steps_between_rows = 10;
inline constexpr int velocity_seed = 87287;

using point = std::array<double, 3>;

struct box {
  int cells = 0;                  ///< of the fcc lattice along an edge, with four atoms each
  double cell = 0;                ///< their width
  double length = 0;              ///< of an edge
  int cut[3]{1, 1, 1};            ///< bricks along each axis; the last axis is the fastest among ranks
  bool counts_pairs_once = false; ///< those of atoms on two ranks are computed on one of them, and sent to the other

  /// Bricks for so many ranks, with the least surface.
  box(int lattice_cells, int ranks, bool once)
      : cells(lattice_cells), cell(std::pow(4 / density, 1.0 / 3)), length(cell * lattice_cells),
        counts_pairs_once(once) {
    double least = 4;
    for (int a = 1; a <= ranks; ++a)
      for (int b = 1; a * b <= ranks; ++b) {
        int const c = ranks / (a * b);
        double const surface = 1.0 / (a * b) + 1.0 / (a * c) + 1.0 / (b * c);
        if (a * b * c == ranks && surface < least) least = surface, cut[0] = c, cut[1] = b, cut[2] = a;
      }
  }

  [[nodiscard]] std::int64_t atoms() const { return 4 * std::int64_t{cells} * cells * cells; }

  /// A coordinate of an atom that left the box at one side, or not, from 0 to the length.
  [[nodiscard]] KEEL_FUNCTION double inside(double x) const {
    double const y = x < 0 ? x + length : x >= length ? x - length : x;
    return y < length ? y : 0; // the sum may be rounded up
  }
  /// The difference of two coordinates, of those images that are nearest to each other.
  [[nodiscard]] KEEL_FUNCTION double nearest(double d) const {
    return d > length / 2 ? d - length : d < -length / 2 ? d + length : d;
  }
  /// The rank whose brick a point is in, which is inside the box.
  [[nodiscard]] KEEL_FUNCTION int owner(double x, double y, double z) const {
    return (slab(x, 0) * cut[1] + slab(y, 1)) * cut[2] + slab(z, 2);
  }
  /// Where a brick begins, or ends, along an axis.
  [[nodiscard]] KEEL_FUNCTION double edge(int rank, int axis, int after = 0) const {
    int const at[] = {rank / cut[2] / cut[1], rank / cut[2] % cut[1], rank % cut[2]};
    return length / cut[axis] * (at[axis] + after);
  }
  /// Whether a point, or a cuboid about it, is as close to a brick as atoms reach.
  [[nodiscard]] KEEL_FUNCTION bool is_near(int rank, double const (&at)[3], double const (&half)[3] = {0, 0, 0}) const {
    double squares = 0;
    for (int d = 0; d < 3; ++d) {
      double const width = length / cut[d] / 2, from = std::fabs(nearest(at[d] - edge(rank, d) - width));
      double const gap = std::fmax(0.0, from - width - half[d]);
      squares += gap * gap;
    }
    return squares <= reach * reach;
  }
  /// The ranks that have atoms as close to the brick of a rank.
  [[nodiscard]] std::vector<int> ranks_near(int rank) const {
    double half[3], middle[3];
    for (int d = 0; d < 3; ++d) half[d] = length / cut[d] / 2, middle[d] = edge(rank, d) + half[d];
    std::vector<int> near;
    for (int r = 0; r < cut[0] * cut[1] * cut[2]; ++r)
      if (r != rank && is_near(r, middle, half)) near.push_back(r);
    return near;
  }

private:
  [[nodiscard]] KEEL_FUNCTION int slab(double x, int axis) const {
    int const n = int(x / length * cut[axis]);
    return n < cut[axis] ? n : cut[axis] - 1;
  }
};

/// Bins that are at least as wide as atoms reach, over the brick of a rank and what it has ghosts in.
struct bins {
  double begin[3], wide[3], length;
  int count[3];
  bool are_closed[3]; ///< all of the box along that axis, so that the first follows the last

  bins(box const& b, int rank) : length(b.length) {
    for (int d = 0; d < 3; ++d) {
      double const span = b.length / b.cut[d] + 2 * reach;
      are_closed[d] = b.cut[d] == 1 || span >= length;
      begin[d] = are_closed[d] ? 0 : b.edge(rank, d) - reach;
      count[d] = int((are_closed[d] ? length : span) / reach);
      wide[d] = (are_closed[d] ? length : span) / count[d];
    }
  }
  [[nodiscard]] int size() const { return count[0] * count[1] * count[2]; }

  [[nodiscard]] KEEL_FUNCTION int of(double x, double y, double z) const {
    return number(along(0, x), along(1, y), along(2, z));
  }
  /// Calls f(bin) for the bin of a point and those about it.
  template <class F>
  KEEL_FUNCTION void for_each_near(double const (&at)[3], F const& f) const {
    int from[3];
    for (int d = 0; d < 3; ++d) from[d] = along(d, at[d]);
    for (int which = 0; which < 27; ++which) {
      int const a = beside(0, from[0] + which % 3 - 1), b = beside(1, from[1] + which / 3 % 3 - 1),
                c = beside(2, from[2] + which / 9 - 1);
      if (a >= 0 && b >= 0 && c >= 0) f(number(a, b, c));
    }
  }

private:
  [[nodiscard]] KEEL_FUNCTION int number(int a, int b, int c) const { return (c * count[1] + b) * count[0] + a; }
  [[nodiscard]] KEEL_FUNCTION int along(int d, double x) const {
    double const from = x - begin[d];
    int const n = int((from < 0 ? from + length : from >= length ? from - length : from) / wide[d]);
    return n < count[d] ? n : count[d] - 1;
  }
  [[nodiscard]] KEEL_FUNCTION int beside(int d, int at) const {
    if (at >= 0 && at < count[d]) return at;
    return !are_closed[d] ? -1 : at < 0 ? at + count[d] : at - count[d];
  }
};

} // namespace particles
