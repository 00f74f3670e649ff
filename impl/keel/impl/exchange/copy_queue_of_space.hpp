// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The copy queue of a Kokkos space, without its kernels.

#include <keel/impl/exchange/copy_queue.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

namespace keel::space {
class simulated;
}

namespace keel::residency::detail {

/// To the memory of a space, in the queue of one of its instances. The compiled part has it for keel's devices, because
/// the kernels would cost each source that makes fields more than all else, with nvcc three times as much; that for a
/// device of the application is compiled where kokkos_copy_queue.hpp is included.
template <class Space>
[[nodiscard]] copy_queue kokkos_copy_queue(Space const& queue);

#if KEEL_COMPILED
extern template copy_queue kokkos_copy_queue(keel::space::simulated const&);
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
extern template copy_queue kokkos_copy_queue(Kokkos::DefaultExecutionSpace const&);
#endif
#endif

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/kokkos_copy_queue.hpp>
#endif
