// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 2: memory and execution spaces beside Kokkos' own, plug-ins, devices, start and end.
/// The only folder that includes Kokkos.

#include <keel/space/blocked.hpp>
#include <keel/space/concepts.hpp>
#include <keel/space/defaults.hpp>
#include <keel/space/devices.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/memkind.hpp>
#include <keel/space/memory.hpp>
#include <keel/space/numa.hpp>
#include <keel/space/pinned.hpp>
#include <keel/space/plugins.hpp>
#include <keel/space/pool.hpp>
#include <keel/space/settings.hpp>
#include <keel/space/simulated.hpp>
#include <keel/space/simulated_memory.hpp>
#include <keel/space/start.hpp>
#include <keel/space/tbb.hpp>
#include <keel/space/umpire.hpp>
