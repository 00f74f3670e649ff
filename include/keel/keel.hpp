// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// All of keel: what a parallel code was written for as types, what it does as knobs.

#include <keel/block.hpp>
#include <keel/device.hpp>
#include <keel/exchange.hpp>
#include <keel/impl/residency/join.hpp>
#include <keel/layout.hpp>
#include <keel/machine.hpp>
#include <keel/policy.hpp>
#include <keel/residency.hpp>
#include <keel/residency/registry.hpp>
#include <keel/schedule.hpp>
#include <keel/space.hpp>
#include <keel/topology.hpp>
#include <keel/validity.hpp>
