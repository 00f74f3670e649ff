// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Layer 7: the variables of an application in every memory that needs them, and what runs routines on them. Includes
/// what it stands on: validity, layout, exchange and schedule.

#include <keel/exchange.hpp>
#include <keel/layout.hpp>
#include <keel/residency/compiled.hpp>
#include <keel/residency/context.hpp>
#include <keel/residency/declare.hpp>
#include <keel/residency/fields.hpp>
#include <keel/residency/initial.hpp>
#include <keel/residency/loops.hpp>
#include <keel/residency/reduce_owned.hpp>
#include <keel/schedule.hpp>
#include <keel/validity.hpp>
