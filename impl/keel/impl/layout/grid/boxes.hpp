// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which boxes of a grid's share make a region.

#include <keel/impl/layout/index_set.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

namespace keel::residency::detail {

/// Without ghosts all owned cells are core.
[[nodiscard]] index_sets boxes_of(share const& s, region where, bool has_ghosts = true);

/// Those of the owned elements that are twins: of two elements on the fold that are one, the one that does not own it.
/// Routines compute it with the others, an exchange fills it as a ghost.
[[nodiscard]] bounds twins_of(share const& s);
/// A box of owned elements without twins.
[[nodiscard]] index_sets without_twins(share const& s, bounds const& owned);

/// The owned cells in the order in which a routine in pieces computes them: boxes of those that other ranks wait for,
/// so many cells deep, then the rest as one box. Only one box, all of them, if no other rank waits; none, if nothing
/// would be left. `with_own`: the rim of sides where the rank is its own neighbour comes first, too.
[[nodiscard]] index_sets rim_first(share const& s, indices const& depth, bool with_own);

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/grid/boxes.ipp>
#endif
