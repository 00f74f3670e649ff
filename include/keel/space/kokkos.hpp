// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Includes Kokkos: every other header of keel that needs Kokkos includes this one.

#include <keel/impl/space/atomics.hpp>

#include <Kokkos_Core.hpp>

#include <keel/impl/space/light.hpp>
#include <keel/impl/space/older_kokkos.hpp>
