// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// For a source that holds physics: variables, routines, schedules and loops, without what runs them. It costs the
/// compiler little more than Kokkos; one source of the program includes keel/keel.hpp and calls `step`.

#include <keel/residency/reduce_owned.hpp>
#include <keel/residency/mesh.hpp>
#include <keel/residency/schedule.hpp>
#include <keel/residency/walls.hpp>
