// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether messages can leave from a GPU's memory.

#include <keel/machine/mpi.hpp>

#include <type_traits>

#if KEEL_WITH_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace keel::machine {

/// Whether the ranks' messages may be sent from and received in the memory of a GPU, as far as they say so here
/// and now: an MPI that cannot be asked is taken not to. Without MPI there are no messages, so they can.
template <class Ranks>
[[nodiscard]] bool reaches_device_memory() {
#if KEEL_WITH_MPI
  if constexpr (std::is_same_v<Ranks, mpi>) {
    bool can = false;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    can = can || MPIX_Query_cuda_support() != 0;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
    can = can || MPIX_Query_rocm_support() != 0;
#endif
    return can;
  }
#endif
  return true;
}

} // namespace keel::machine
