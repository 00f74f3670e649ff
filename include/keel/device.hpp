// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 8: knobs, where they come from, and the start and end of a program.

#include <keel/device/elements.hpp>
#include <keel/device/report.hpp>
#include <keel/device/runtime.hpp>
#include <keel/device/try_execute.hpp>
