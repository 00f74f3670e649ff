// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Chooses real atomics for a Kokkos that was built for one thread.
///
/// Kokkos 3 built with Serial alone turns `Kokkos::atomic_add` into a plain
/// addition, which loses updates as soon as `keel::space::tbb` runs the kernel.
/// It takes another choice when one is made before its first header is read: here,
/// or, for code that includes Kokkos before keel, on the compile line.

#include <Kokkos_Macros.hpp>

#if KOKKOS_VERSION < 40000 && defined(KOKKOS_INTERNAL_NOT_PARALLEL) && !defined(KOKKOS_ENABLE_GNU_ATOMICS)
#define KOKKOS_ENABLE_GNU_ATOMICS
#endif
