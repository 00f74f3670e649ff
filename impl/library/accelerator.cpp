// SPDX-License-Identifier: MIT
// keel's own kernels for the accelerator of this Kokkos, which has one or none.
#include <keel/impl/exchange/kokkos_copy_queue.hpp>

namespace kd = keel::residency::detail;
#if defined(KOKKOS_ENABLE_CUDA)
template kd::copy_queue kd::kokkos_copy_queue(Kokkos::Cuda const&);
#elif defined(KOKKOS_ENABLE_HIP)
template kd::copy_queue kd::kokkos_copy_queue(keel::space::detail::hip_calls::execution_space const&);
#elif defined(KOKKOS_ENABLE_SYCL)
template kd::copy_queue kd::kokkos_copy_queue(keel::space::detail::sycl_calls::execution_space const&);
#endif
