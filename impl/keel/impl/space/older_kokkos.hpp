// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos before 4.3 lacks. Built with Serial only, it counts references and takes locks with plain operations, in
/// its library, though threads of keel's may run. A program's own definition of these functions stands before a shared
/// library's, also for calls from within it; a static library keeps its own.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

// The references to a view; of views copied by two threads, their memory would be freed twice, or never.
#if KOKKOS_VERSION < 40300 && !defined(KOKKOS_ENABLE_DEBUG) && \
    (defined(KOKKOS_INTERNAL_NOT_PARALLEL) || defined(KOKKOS_INTERNAL_NOT_PARALLEL_COUNTS))

namespace Kokkos::Impl {

inline void SharedAllocationRecord<void, void>::increment(SharedAllocationRecord<void, void>* record) {
  if (__atomic_fetch_add(&record->m_count, 1, __ATOMIC_RELAXED) < 0)
    throw_runtime_exception("Kokkos::Impl::SharedAllocationRecord failed increment");
}

inline SharedAllocationRecord<void, void>*
SharedAllocationRecord<void, void>::decrement(SharedAllocationRecord<void, void>* record) {
  int const before = __atomic_fetch_sub(&record->m_count, 1, __ATOMIC_ACQ_REL);
  if (before > 1) return record;
  if (before < 1) throw_runtime_exception("Kokkos::Impl::SharedAllocationRecord failed decrement count");
  if (!Kokkos::is_initialized())
    throw_runtime_exception("Kokkos allocation \"" + record->get_label() +
                            "\" is being deallocated after Kokkos::finalize was called\n");
  (*record->m_dealloc)(record);
  return nullptr;
}

} // namespace Kokkos::Impl

#endif

// Locks for atomics wider than the machine's; two threads would hold one.
#if KOKKOS_VERSION < 40000 && defined(KOKKOS_INTERNAL_NOT_PARALLEL)

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

// `Kokkos::RangePolicy(space, begin, end)` without template arguments. `MDRangePolicy` cannot follow: its own
// constructors, tried first, do not compile without a rank.
#if KOKKOS_VERSION < 40300

namespace Kokkos {

template <class Space, class = std::enable_if_t<is_execution_space<Space>::value>>
RangePolicy(Space const&, std::int64_t, std::int64_t) -> RangePolicy<Space>;

} // namespace Kokkos

#endif
