// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Counts the references to a view from many threads, if Kokkos was built for one.
///
/// Kokkos before 4.3, built with Serial only, counts with plain additions, in its library.
/// Views copied by two threads are then freed twice, or never. A program's own
/// definition of the two functions stands before a shared library's, also for
/// calls from within it; a static library keeps its own.

#include <Kokkos_Core.hpp>

#if KOKKOS_VERSION < 40300 && !defined(KOKKOS_ENABLE_DEBUG) && \
    (defined(KOKKOS_INTERNAL_NOT_PARALLEL) || defined(KOKKOS_INTERNAL_NOT_PARALLEL_COUNTS))

#include <string>

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
