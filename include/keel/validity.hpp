// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 3: where each region of each variable is valid: regions and their transitions, the ledger of a driver,
/// observers, traces. Compiles without Kokkos.

#include <keel/validity/concepts.hpp>
#include <keel/validity/ledger.hpp>
#include <keel/validity/observer.hpp>
#include <keel/validity/reasons.hpp>
#include <keel/validity/settings.hpp>
#include <keel/validity/trace.hpp>
#include <keel/validity/tracking.hpp>
#include <keel/validity/traffic.hpp>
#include <keel/validity/transitions.hpp>
