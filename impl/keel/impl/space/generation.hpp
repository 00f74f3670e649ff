// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What speaks to the internals of the Kokkos at hand; the files for others are empty.
///
/// Each generation's file says the same things in its Kokkos' words: how a
/// plug-in is registered, how an allocation is recorded, who checks an element's
/// memory, and how a reduction is put together. A new Kokkos changes one file.

#include <keel/space/kokkos.hpp>

#if KOKKOS_VERSION >= 30500 && KOKKOS_VERSION < 40500
#error "keel::space: the internals of this Kokkos are not known (only those of 3.4 and from 4.5 on). Use one of these?"
#endif

#include <keel/impl/space/kokkos3.hpp>
#include <keel/impl/space/kokkos4.hpp>
