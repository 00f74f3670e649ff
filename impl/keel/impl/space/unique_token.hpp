// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// `Kokkos::Experimental::UniqueToken` on keel's own execution spaces; `ScatterView` stands on it.

#include <keel/impl/space/engine.hpp>
#include <keel/space/kokkos.hpp>

#include <cstddef>
#include <mutex>

namespace keel::space::detail {

/// Slots of which a thread takes a free one. There are as many as threads, so the search ends.
template <class Space>
class slots {
public:
  using execution_space = Space;
  using size_type = typename Space::size_type;

  explicit slots(size_type count) : taken_("keel::space::unique_token", count) {}

  KOKKOS_FUNCTION size_type size() const { return taken_.extent(0); }
  KOKKOS_FUNCTION size_type acquire() const {
    for (size_type i = 0;; i = i + 1 < size() ? i + 1 : 0)
      if (Kokkos::atomic_compare_exchange(&taken_(i), 0, 1) == 0) {
        Kokkos::memory_fence();
        return i;
      }
  }
  KOKKOS_FUNCTION void release(size_type i) const {
    Kokkos::memory_fence();
    Kokkos::atomic_exchange(&taken_(i), 0);
  }

private:
  Kokkos::View<int*, Kokkos::HostSpace> taken_;
};

} // namespace keel::space::detail

namespace Kokkos::Experimental {

template <keel::space::detail::Engine Space>
class UniqueToken<Space, UniqueTokenScope::Global> : public keel::space::detail::slots<Space> {
public:
  explicit UniqueToken(Space const& = {}) : UniqueToken::slots(everybody()) {}

private:
  /// One set of slots for the process, made while Kokkos runs and gone before it ends.
  static keel::space::detail::slots<Space> const& everybody() {
    static std::mutex mutex;
    static keel::space::detail::slots<Space>* one = nullptr;
    std::lock_guard const lock(mutex);
    if (one == nullptr) {
      one = new keel::space::detail::slots<Space>(static_cast<std::size_t>(Space().impl_threads()));
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
