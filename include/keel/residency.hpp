// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Variables, routines and schedules as types; where their bytes are valid, and how they get there.

#include <keel/residency/concepts.hpp>
#include <keel/residency/context.hpp>
#include <keel/residency/declare.hpp>
#include <keel/residency/explain.hpp>
#include <keel/residency/fields.hpp>
#include <keel/residency/grid.hpp>
#include <keel/residency/kokkos_provider.hpp>
#include <keel/residency/ledger.hpp>
#include <keel/residency/mesh.hpp>
#include <keel/residency/observer.hpp>
#include <keel/residency/part.hpp>
#include <keel/residency/partition.hpp>
#include <keel/residency/reasons.hpp>
#include <keel/residency/routine.hpp>
#include <keel/residency/settings.hpp>
#include <keel/residency/trace.hpp>
#include <keel/residency/tracking.hpp>
#include <keel/residency/traffic.hpp>
#include <keel/residency/transitions.hpp>
#include <keel/residency/variable.hpp>
#include <keel/residency/walls.hpp>
