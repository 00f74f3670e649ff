// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Includes Kokkos: every other header of keel that needs Kokkos includes this one.

#include <keel/impl/space/kokkos_at_hand.hpp>
