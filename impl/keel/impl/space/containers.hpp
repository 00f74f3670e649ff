// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What Kokkos' containers and random numbers ask of an execution space, for keel's own, as tokens, which `ScatterView`
/// stands on. Kokkos has it only for its own spaces, in headers that this one need not include.

#include <keel/impl/space/engine.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <mutex>
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

namespace keel::space::detail {

/// Slots of which a thread takes a free one, each on a cache line of its own. There are as many as threads, so the
/// search ends; it begins at the thread's number, so that threads meet in other instances' kernels only.
template <class Space>
class slots {
public:
  using execution_space = Space;
  using size_type = typename Space::size_type;

  explicit slots(size_type count) : taken_("keel::space::unique_token", count * apart) {}

  KOKKOS_FUNCTION size_type size() const { return taken_.extent(0) / apart; }

  // Kernels of these spaces run on the host; for a device the two are compiled, never called. The compiler's own
  // atomics cost half of what Kokkos' and a fence do.
#if KEEL_ON_ACCELERATOR
  KOKKOS_FUNCTION size_type acquire() const { return 0; }
  KOKKOS_FUNCTION void release(size_type) const {}
#else
  KOKKOS_FUNCTION size_type acquire() const {
    size_type const count = size();
    for (size_type i = Space::impl_hardware_thread_id() % count;; i = i + 1 < count ? i + 1 : 0)
      if (__atomic_exchange_n(taken_.data() + i * apart, 1, __ATOMIC_ACQUIRE) == 0) return i;
  }
  KOKKOS_FUNCTION void release(size_type i) const { __atomic_store_n(taken_.data() + i * apart, 0, __ATOMIC_RELEASE); }
#endif

private:
  static constexpr size_type apart = 64 / sizeof(int);
  Kokkos::View<int*, Kokkos::HostSpace> taken_;
};

/// The slots of the process. A thread that holds one gets the same one again, because two accesses of one thread to a
/// `ScatterView` would wait for each other.
template <class Space>
class slots_of_process : public slots<Space> {
public:
  using typename slots<Space>::size_type;

  explicit slots_of_process(size_type count) : slots<Space>(count) {}

#if !KEEL_ON_ACCELERATOR
  KOKKOS_FUNCTION size_type acquire() const {
    if (times_held_++ == 0) held_ = slots<Space>::acquire();
    return held_;
  }
  KOKKOS_FUNCTION void release(size_type i) const {
    if (--times_held_ == 0) slots<Space>::release(i);
  }

private:
  static inline constinit thread_local int times_held_ = 0;
  static inline constinit thread_local size_type held_ = 0;
#endif
};

} // namespace keel::space::detail

namespace Kokkos::Experimental {

template <keel::space::detail::Engine Space>
class UniqueToken<Space, UniqueTokenScope::Global> : public keel::space::detail::slots_of_process<Space> {
  using slots = keel::space::detail::slots_of_process<Space>;

public:
  explicit UniqueToken(Space const& = {}) : slots(everybody()) {}

private:
  /// One set of slots for the process, made while Kokkos runs and gone before it ends.
  static slots const& everybody() {
    static std::mutex mutex;
    static slots* one = nullptr;
    std::lock_guard const lock(mutex);
    if (one == nullptr) {
      one = new slots(std::size_t(Space().impl_threads()));
      Kokkos::push_finalize_hook([] {
        delete one;
        one = nullptr;
      });
    }
    return *one;
  }
};

template <keel::space::detail::Engine Space>
class UniqueToken<Space, UniqueTokenScope::Instance> : public keel::space::detail::slots<Space> {
public:
  using size_type = typename Space::size_type;
  explicit UniqueToken(Space const& space = {}) : UniqueToken::slots(static_cast<size_type>(space.impl_threads())) {}
  explicit UniqueToken(size_type count, Space const& = {}) : UniqueToken::slots(count) {}
};

} // namespace Kokkos::Experimental
