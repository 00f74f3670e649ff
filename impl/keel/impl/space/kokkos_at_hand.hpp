// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Kokkos, and what it lacks before 4.3. Built with Serial only, it counts references and takes locks with plain
/// operations, in its library, though threads of keel's may run. A program's own definition of these functions stands
/// before a shared library's, also for calls from within it; a static library keeps its own.

#include <Kokkos_Macros.hpp>

#include <keel/policy/macros.hpp>

// Real atomics. A Kokkos built with Serial only turns `Kokkos::atomic_add` into a plain addition, which loses updates
// as soon as `keel::space::tbb` runs the kernel. It takes another choice when one is made before its first header is
// read: here, or, with Kokkos 3, on the compile line, for code that includes Kokkos before keel. Parts of a program
// that know Kokkos only must not instantiate the same atomics.
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
#define KOKKOS_INTERNAL_NOT_PARALLEL_COUNTS // for what follows: the library was compiled so
#endif
#endif

#include <Kokkos_Core.hpp>

#include <cstdint>
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

namespace keel::space::detail {

/// Whether neighbouring threads of a space run side by side, so that each takes one index: on GPUs.
template <class Space>
concept HasLanes = std::is_same_v<typename Space::array_layout, Kokkos::LayoutLeft>;

/// The policy for a kernel of a GPU that begins when the queue comes to it: Kokkos puts arguments of more than 512
/// bytes, some nine views, into one place of CUDA's constant memory, unless it is asked not to, and waits on the host
/// until the kernel that had its arguments there has ended.
template <class Policy>
[[nodiscard]] auto light(Policy const& policy) {
  constexpr bool is_on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Policy::execution_space::memory_space>::accessible;
  if constexpr (is_on_host) return policy;
  else return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

/// Waits for an instance, by a label that is short, so it takes no memory: the one that Kokkos has by itself does.
template <class Space>
void wait_for(Space const& space) {
  if constexpr (requires { space.fence("keel"); }) space.fence("keel");
  else space.fence(); // before Kokkos 3.7
}

} // namespace keel::space::detail
