// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Host memory that a device copies from and to without a detour.

#include <keel/space/kokkos.hpp>

namespace keel::space {

/// Kokkos' pinned memory of the accelerator that it was built for; if it was
/// built for none, plain host memory: there is no detour to save.
#if defined(KOKKOS_ENABLE_CUDA)
using pinned = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP) && KOKKOS_VERSION < 40000
using pinned = Kokkos::Experimental::HIPHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using pinned = Kokkos::HIPHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_SYCL) && KOKKOS_VERSION < 40100
using pinned = Kokkos::Experimental::SYCLHostUSMSpace;
#elif defined(KOKKOS_ENABLE_SYCL)
using pinned = Kokkos::SYCLHostUSMSpace;
#else
using pinned = Kokkos::HostSpace;
#endif

} // namespace keel::space
