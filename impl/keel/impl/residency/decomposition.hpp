// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How an index space is cut over ranks, as data: which pieces of it a rank sends, gets and copies to itself in an
/// exchange of ghosts. A geometry provides this, and packing, sending and unpacking depend on nothing else.

#include <keel/policy/macros.hpp>
#include <keel/residency/grid.hpp>

#include <vector>

namespace keel::residency::detail {

/// A rank that shares cells with this one. Both count the pieces of a message in the same order: what one sends as its
/// first piece the other gets as its first.
struct partner {
  int rank;
  std::vector<bounds> rims;   ///< owned cells that the partner has copies of, as boxes of local indices
  std::vector<bounds> ghosts; ///< copies of cells that the partner owns
};

/// Ghosts that are copies of this rank's own cells, as where a periodic grid is not cut.
struct own_copy {
  bounds ghosts;
  indices shift; ///< from a ghost to the cell that it is a copy of

  /// The cells that the ghosts are copies of.
  [[nodiscard]] bounds cells() const {
    bounds made = ghosts;
    for (int d = 0; d < max_grid_rank; ++d) made.begin[d] += shift[d], made.end[d] += shift[d];
    return made;
  }
};

/// What `rank` exchanges. Partners are other ranks, each once; boxes of ghosts are disjoint, those of rims may overlap.
struct decomposition {
  std::vector<partner> partners;
  std::vector<own_copy> own;
};

/// Of a grid: a partner lies in one direction, or in several if the grid is periodic; corners are directions, too.
[[nodiscard]] decomposition decomposition_of(share const& s, int rank);

/// When ghosts are added to each box of rims, in the order of partners and their boxes, then to the cells of each own
/// copy: in the first turn, counted from 0, in which no box before it meets it. So one kernel can do a turn, and
/// numbers are added to a cell in the same order each time.
[[nodiscard]] std::vector<int> turns_of(decomposition const& cut);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/grid_decomposition.hpp>
#endif
