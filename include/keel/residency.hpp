// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 7: the variables of an application in every memory that needs them, and what runs routines on them. Partitions
/// of meshes, transports, traces and plans come by the doors of the rooms below: layout, exchange, validity, schedule.

#include <keel/residency/compiled.hpp>
#include <keel/residency/context.hpp>
#include <keel/residency/declare.hpp>
#include <keel/residency/fields.hpp>
#include <keel/residency/gather.hpp>
#include <keel/residency/initial.hpp>
#include <keel/residency/loops.hpp>
#include <keel/residency/reduce_owned.hpp>
