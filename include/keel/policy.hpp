// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 0: lists of devices, their tags, and choosing by name. Compiles without Kokkos.

#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/nearest.hpp>
#include <keel/policy/tags.hpp>
#include <keel/policy/tuple.hpp>
