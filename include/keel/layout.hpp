// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 4: how an index space is cut over ranks: variables on grids and meshes, partitions. Compiles without Kokkos.

#include <keel/layout/grid.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/layout/partition.hpp>
#include <keel/layout/rows.hpp>
#include <keel/layout/variable.hpp>
