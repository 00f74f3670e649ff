// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Chooses real atomics for a Kokkos that was built for one thread.
///
/// Kokkos before 4.3, built with Serial only, turns `Kokkos::atomic_add` into a
/// plain addition, which loses updates as soon as `keel::space::tbb` runs the kernel.
/// It takes another choice when one is made before its first header is read: here,
/// or, with Kokkos 3, on the compile line, for code that includes Kokkos before keel.
/// Parts of a program that know Kokkos only must not instantiate the same atomics.

#include <Kokkos_Macros.hpp>

#include <keel/policy/macros.hpp>

#if KOKKOS_VERSION < 40300 && defined(KOKKOS_INTERNAL_NOT_PARALLEL)
#if KOKKOS_VERSION < 40000
#ifndef KOKKOS_ENABLE_GNU_ATOMICS
#define KOKKOS_ENABLE_GNU_ATOMICS
#endif
#else
#if KEEL_WITH_TBB && defined(KOKKOS_CORE_HPP)
#error \
    "keel::space: Kokkos was included before keel (a Kokkos of this version that was built with Serial only has then chosen atomics that are none, and keel::space::tbb has threads). Include keel first."
#endif
#undef KOKKOS_INTERNAL_NOT_PARALLEL
#define KOKKOS_INTERNAL_NOT_PARALLEL_COUNTS // for older_kokkos.hpp: the library was compiled so
#endif
#endif
