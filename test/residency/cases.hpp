// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What cases of residency begin with: the library, a runtime of the test's own, routines of one line, doctest.

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>
#include <keel/residency.hpp>
#include <keel/schedule/explain.hpp>
#include <keel/schedule/plan.hpp>
#include <keel/validity/ledger.hpp>

#include <support/test.hpp>

#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

namespace test {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of, keel::test::refuses;

} // namespace test
