// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `Kokkos::Experimental::UniqueToken` on keel's own execution spaces; `ScatterView` stands on it.

#include <keel/impl/space/engine.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <mutex>

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
