// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 1: vector length, chunks, blocked loops, packs. Rests on the standard library alone.

#include <keel/block/chunks.hpp>
#include <keel/block/length.hpp>
#include <keel/block/mask.hpp>
#include <keel/block/math.hpp>
#include <keel/block/pack.hpp>
