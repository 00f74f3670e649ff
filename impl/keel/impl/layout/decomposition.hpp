// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How an index space is cut over ranks, as data: which pieces of it a rank sends, gets and copies to itself in an
/// exchange of ghosts. A geometry provides this, and packing, sending and unpacking depend on nothing else.

#include <keel/impl/layout/index_set.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

#include <memory>
#include <vector>

namespace keel::residency::detail {

/// Elements of a component.
struct segment {
  int component;
  index_set box;
  int other = 0;             ///< the component where copies of them are, or where they are copies of
  origin_steps steps = {};   ///< of a rim: the order in which the ghosts that are copies of it lie
  bool changes_sign = false; ///< whether ghosts have the other sign
};

/// A rank that shares elements with this one. Both count the pieces of a message in the same order, that of the
/// components with ghosts, then of the owners: what one sends as its first piece the other gets as its first.
struct partner {
  int rank;
  std::vector<segment> rims;   ///< owned elements that the partner has copies of
  std::vector<segment> ghosts; ///< copies of elements that the partner owns
};

/// Ghosts that are copies of this rank's own elements, as where a periodic grid is not cut, or of its other blocks.
struct own_copy {
  segment ghosts; ///< listed ones are followed in their list by the elements that they are copies of, and by themselves
  segment origins; ///< what they are copies of, in the same order
};

/// What `rank` exchanges. Partners are other ranks, each once, in ascending order; ghosts are disjoint, rims may
/// overlap.
struct decomposition {
  std::vector<partner> partners;
  std::vector<own_copy> own;
  std::vector<std::unique_ptr<element_list const>> lists; ///< those that segments are parts of
};

/// When ghosts are added to each piece of rims, in the order of partners and their pieces, then to the origin of each
/// own copy: in the first turn, counted from 0, in which no piece before it meets it. So one kernel can do a turn, and
/// numbers are added to an element in the same order each time.
[[nodiscard]] std::vector<int> turns_of(decomposition const& cut);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/decomposition.ipp>
#endif
