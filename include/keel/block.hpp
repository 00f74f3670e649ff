// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 1: vector length, chunks, blocked loops, packs. Rests on the standard library only.

#include <keel/block/blocks.hpp>
#include <keel/block/chunks.hpp>
#include <keel/block/columns.hpp>
#include <keel/block/for_each_block.hpp>
#include <keel/block/length.hpp>
#include <keel/block/pack.hpp>
