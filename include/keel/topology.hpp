// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 1: what a node is made of, what is near what, and a place for every rank. Compiles
/// without Kokkos; the only folder that includes hwloc.

#include <keel/topology/affinity.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/id_set.hpp>
#include <keel/topology/memory_binding.hpp>
#include <keel/topology/node.hpp>
#include <keel/topology/nway.hpp>
#include <keel/topology/objects.hpp>
#include <keel/topology/placement.hpp>
