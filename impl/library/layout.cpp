// SPDX-License-Identifier: MIT
// The bodies of layout that need not be compiled with every source.
#include <keel/impl/layout/grid.hpp>
#include <keel/impl/layout/grid_decomposition.hpp>
#include <keel/impl/layout/mesh_decomposition.hpp>
#include <keel/impl/layout/owner_search_steps.hpp>
