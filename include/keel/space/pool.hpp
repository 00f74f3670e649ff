// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Many small allocations out of few large ones, by the pools of `std::pmr`.

#include <keel/space/memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <type_traits>

namespace keel::space {

/// How a pool takes from its upstream.
struct pool_options {
  std::size_t limit = std::numeric_limits<std::size_t>::max(); ///< bytes it may hold at once
  std::size_t largest_block = 1 << 20;                         ///< larger ones come from the upstream, one by one
};

namespace detail {

/// The upstream as `std::pmr` wants it; counts what the pool holds, and keeps it below the limit.
template <class Upstream>
class counted_upstream final : public std::pmr::memory_resource {
public:
  counted_upstream(Upstream upstream, std::size_t limit) : upstream_(std::move(upstream)), limit_(limit) {}

  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t high_water() const { return high_water_; }

private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    std::size_t const after = held_ += bytes;
    if (after > limit_ || after < bytes) {
      held_ -= bytes;
      throw std::bad_alloc();
    }
    for (auto seen = high_water_.load(); seen < after && !high_water_.compare_exchange_weak(seen, after);) {
    }
    try {
      return upstream_.allocate("keel::space::pool", bytes);
    } catch (...) {
      held_ -= bytes;
      throw;
    }
  }
  void do_deallocate(void* pointer, std::size_t bytes, std::size_t) override {
    upstream_.deallocate("keel::space::pool", pointer, bytes);
    held_ -= bytes;
  }
  [[nodiscard]] bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
    return this == &other;
  }

  Upstream upstream_;
  std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<std::size_t> high_water_ = 0;
};

/// Stops the compiler if no pool can lie over `Upstream`, with one sentence.
template <class Upstream>
consteval bool require_upstream() {
  constexpr bool is_space = Kokkos::is_memory_space<Upstream>::value;
  static_assert(is_space, "keel::space::pool: the upstream is not a memory space (large blocks come from it). "
                          "Name one, Kokkos::HostSpace for instance.");
  if constexpr (is_space)
    static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, Upstream>::accessible,
                  "keel::space::pool: host code may not touch the upstream (the pool's lists lie in it). "
                  "Pool memory of the host.");
  return is_space;
}

} // namespace detail

/// A pool over `Upstream`, a memory space that host code may touch, because the
/// pool's lists lie in it. Copies share one pool; from any thread.
///
/// Made by default it is the one pool that the process has over `Upstream`. What
/// a pool holds goes back to the upstream with `release` and with the last copy.
template <class Upstream>
class pool_resource {
  using upstream_space = std::conditional_t<detail::require_upstream<Upstream>(), Upstream, Kokkos::HostSpace>;

public:
  static constexpr char const* name = "pool";
  static constexpr reach reached_from = reach::host;
  using execution_space = typename upstream_space::execution_space;

  /// The process's own over `Upstream`, without limit; it lives until the process ends.
  pool_resource() : state_(shared()) {}
  explicit pool_resource(pool_options options, upstream_space upstream = {})
      : state_(std::make_shared<state>(options, std::move(upstream))) {}

  /// Throws if the limit or the upstream is exhausted.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const {
    std::lock_guard const guard(state_->lock);
    return state_->pool.allocate(whole(bytes, alignment), alignment);
  }
  void deallocate(void* pointer, std::size_t bytes, std::size_t alignment) const {
    std::lock_guard const guard(state_->lock);
    state_->pool.deallocate(pointer, whole(bytes, alignment), alignment);
  }

  /// Bytes taken from the upstream now, and the most there ever were.
  [[nodiscard]] std::size_t held() const { return state_->upstream.held(); }
  [[nodiscard]] std::size_t high_water() const { return state_->upstream.high_water(); }
  /// Gives all back to the upstream, also what is in use: nothing of the pool may be.
  void release() const {
    std::lock_guard const guard(state_->lock);
    state_->pool.release();
  }

private:
  struct state {
    state(pool_options const& options, upstream_space from)
        : upstream(std::move(from), options.limit),
          pool({.max_blocks_per_chunk = 0, .largest_required_pool_block = options.largest_block}, &upstream) {}
    detail::counted_upstream<upstream_space> upstream;
    std::pmr::unsynchronized_pool_resource pool;
    std::mutex lock;
  };
  // The libstdc++ of GCC 12 (not of 16) puts blocks of 80, 96 or 112 bytes one after the other, whatever alignment is
  // asked for.
  static std::size_t whole(std::size_t bytes, std::size_t alignment) {
    return bytes > SIZE_MAX - alignment ? bytes : (bytes + alignment - 1) / alignment * alignment;
  }
  static std::shared_ptr<state> const& shared() {
    static auto const one = std::make_shared<state>(pool_options{}, upstream_space{});
    return one;
  }
  std::shared_ptr<state> state_;
};

/// The memory space of a pool: `pool<>`, or `pool<Upstream>` over another space.
template <class Upstream = Kokkos::HostSpace>
using pool = memory<pool_resource<Upstream>>;

} // namespace keel::space
