// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos' containers and random numbers ask of an execution space, for keel's own. Kokkos has it only for its
/// own spaces, in headers that this one need not include.

#include <keel/impl/space/engine.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <type_traits>

#if KOKKOS_VERSION >= 50200
#include <Kokkos_Graph_fwd.hpp>
#endif

namespace Kokkos::Experimental {

struct ScatterDuplicated;
struct ScatterNonDuplicated;
struct ScatterAtomic;
struct ScatterNonAtomic;

} // namespace Kokkos::Experimental

namespace keel::space::detail {

/// A device has one copy of the data for all threads, as GPUs have. On the host a copy for each thread is cheap.
template <class Space>
inline constexpr bool duplicates = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

/// Which thread holds which state of a pool of random numbers.
///
/// Each state is held by one thread at a time, whichever instance the thread
/// works for. A thread begins its search at its own number, which as a rule no other thread uses.
template <class Space>
struct state_search {
  template <class Locks>
  KOKKOS_FUNCTION static int get_state_idx([[maybe_unused]] Locks const& locks) {
#if KEEL_ON_ACCELERATOR
    return 0; // compiled for a device, never called
#else
    int const count = int(locks.extent(0));
    for (int i = int(Space::impl_hardware_thread_id()) % count;; i = i + 1 < count ? i + 1 : 0)
      if (Kokkos::atomic_compare_exchange(locks.data() + std::size_t(i) * locks.stride(0), 0, 1) == 0) {
        Kokkos::memory_fence();
        return i;
      }
#endif
  }
};

} // namespace keel::space::detail

namespace Kokkos::Impl {

template <class>
struct Random_UniqueIndex;

template <class>
struct better_off_calling_std_sort;

/// How Kokkos sorts with a comparator on its own host spaces since 4.2; else it takes the view for a device's.
template <keel::space::detail::Engine Space>
  requires std::is_same_v<typename Space::memory_space, HostSpace>
struct better_off_calling_std_sort<Space> : std::true_type {};

/// Kokkos asks by space to 3.7, by device from 4.0.
template <keel::space::detail::Engine Space>
struct Random_UniqueIndex<Space> : keel::space::detail::state_search<Space> {
  using locks_view_type = View<int*, Space>;
};
template <keel::space::detail::Engine Space, class Memory>
struct Random_UniqueIndex<Device<Space, Memory>> : keel::space::detail::state_search<Space> {
  using locks_view_type = View<int**, Device<Space, Memory>>;
};

namespace Experimental {

#if KOKKOS_VERSION >= 50200
// Kokkos_Graph.hpp writes Experimental:: for Kokkos', and finds this namespace if a header opened it before.
using Kokkos::Experimental::GraphNodeKind;
#endif

template <class>
struct DefaultDuplication;
template <class, class>
struct DefaultContribution;

template <keel::space::detail::Engine Space>
struct DefaultDuplication<Space> {
  using type = std::conditional_t<keel::space::detail::duplicates<Space>, Kokkos::Experimental::ScatterDuplicated,
                                  Kokkos::Experimental::ScatterNonDuplicated>;
};
template <keel::space::detail::Engine Space, class Duplication>
struct DefaultContribution<Space, Duplication> {
  using type = std::conditional_t<std::is_same_v<Duplication, Kokkos::Experimental::ScatterDuplicated>,
                                  Kokkos::Experimental::ScatterNonAtomic, Kokkos::Experimental::ScatterAtomic>;
};

} // namespace Experimental

} // namespace Kokkos::Impl
