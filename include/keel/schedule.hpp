// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 6: routines and schedules as types, and what the compiler finds out about them: plans, explanations, refusals.

#include <keel/schedule/entry_kind.hpp>
#include <keel/schedule/explain.hpp>
#include <keel/schedule/part.hpp>
#include <keel/schedule/plan.hpp>
#include <keel/schedule/reduce.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/schedule/schedule.hpp>
#include <keel/schedule/walls.hpp>
