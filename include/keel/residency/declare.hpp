// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// For a source that holds physics: variables, routines, schedules and loops, without what runs them. It costs the
/// compiler little more than Kokkos; one source of the program includes keel/keel.hpp and calls `step`.

#include <keel/residency/reduce_owned.hpp>
#include <keel/layout/mesh.hpp>
#include <keel/schedule/graph.hpp>
#include <keel/schedule/schedule.hpp>
#include <keel/schedule/walls.hpp>
