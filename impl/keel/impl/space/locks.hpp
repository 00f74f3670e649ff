// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Locks for atomics wider than the machine's, from many threads, if Kokkos was built for one.
///
/// Kokkos 3 built with Serial only takes its locks with plain assignments, in its library, so that two threads
/// hold one. As in counting.hpp, a program's own definitions stand before the library's.

#include <Kokkos_Core.hpp>

#if KOKKOS_VERSION < 40000 && defined(KOKKOS_INTERNAL_NOT_PARALLEL)

#include <cstdint>

namespace keel::space::detail {

/// The lock of an address; neighbours have different ones, far ones may share.
inline int& lock_of(void* address) {
  static constinit int locks[4096] = {};
  return locks[(reinterpret_cast<std::uintptr_t>(address) >> 2) % 4096];
}

} // namespace keel::space::detail

namespace Kokkos::Impl {

inline bool lock_address_host_space(void* address) {
  return __atomic_exchange_n(&keel::space::detail::lock_of(address), 1, __ATOMIC_ACQUIRE) == 0;
}

inline void unlock_address_host_space(void* address) {
  __atomic_store_n(&keel::space::detail::lock_of(address), 0, __ATOMIC_RELEASE);
}

} // namespace Kokkos::Impl

#endif
