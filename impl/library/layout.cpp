// SPDX-License-Identifier: MIT
// The bodies of layout that need not be compiled with every source.
#include <keel/impl/layout/arguments.ipp>
#include <keel/impl/layout/decomposition.ipp>
#include <keel/impl/layout/elements.ipp>
#include <keel/impl/layout/grid.ipp>
#include <keel/impl/layout/grid/boxes.ipp>
#include <keel/impl/layout/grid/cube.ipp>
#include <keel/impl/layout/grid/grid_cut.ipp>
#include <keel/impl/layout/grid/grid_share.ipp>
#include <keel/impl/layout/mesh/mesh_share.ipp>
#include <keel/impl/layout/owner_search.ipp>
#include <keel/impl/layout/rows.ipp>
#include <keel/layout/partition.hpp>

template struct keel::residency::detail::agreement::calls_of<keel::machine::alone>;
