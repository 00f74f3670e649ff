// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Turns: kernels that several host threads launch on one instance run one after another.

#include <keel/policy/error.hpp>
#include <keel/policy/forks.hpp>

#include <atomic>
#include <mutex>

namespace keel::space::detail {

class turns;

/// A kernel that runs now, and the kernel it was launched from.
struct running_kernel {
  turns const* of;
  running_kernel const* launched_from;
  int first_thread = 0;     ///< of the NUMA region, among the instance's threads
  bool is_numbered = false; ///< whether that is the number of the one thread that has this description
};

/// The kernel that the calling thread works on; null outside of kernels.
inline constinit thread_local running_kernel const* current_kernel = nullptr;

/// Makes the calling thread work on a kernel for as long as it lives.
class kernel_scope {
public:
  explicit kernel_scope(running_kernel const* kernel) : before_(current_kernel) { current_kernel = kernel; }
  ~kernel_scope() { current_kernel = before_; }
  kernel_scope(kernel_scope const&) = delete;
  kernel_scope& operator=(kernel_scope const&) = delete;

private:
  running_kernel const* before_;
};

/// A mutex whose two calls are inlined, because an empty kernel is not much longer than those of the system's. One that
/// another thread held at a `fork` is held in the child for ever, so there `lock` throws, once.
class inlined_mutex {
public:
  void lock() {
    int expected = free;
    if (!state_.compare_exchange_strong(expected, taken, std::memory_order_acquire))
      while (state_.exchange(awaited, std::memory_order_acquire) != free) {
        if (policy::is_forked_since(locked_after_.load(std::memory_order_relaxed))) {
          state_.store(free); // told once: what ends the process fences again
          throw error("space", "a kernel of the parent process never ends here",
                      "another thread ran it during fork(), which copies no threads", "Fence before fork()");
        }
        state_.wait(awaited);
      }
    locked_after_.store(policy::forks_seen.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(free, std::memory_order_release) == awaited) state_.notify_one();
  }

private:
  static constexpr int free = 0;
  static constexpr int taken = 1;
  static constexpr int awaited = 2; // taken, and a thread may sleep until it is free

  std::atomic<int> state_ = free;
  std::atomic<unsigned> locked_after_ = 0; // so many forks
};

/// The turns of one instance.
///
/// A kernel launched from a kernel of the same instance, directly or through
/// kernels of others, runs at once: it is part of its ancestor's turn. Two
/// instances whose kernels launch kernels on each other, from two host threads, wait for ever.
class turns {
public:
  turns() = default;
  turns(turns const&) = delete;
  turns& operator=(turns const&) = delete;

  /// Calls `f()` when it is the caller's turn; returns or throws what it does.
  template <class F>
  void take(F const& f) {
    running_kernel const mine{this, current_kernel};
    kernel_scope const scope(&mine);
    if (runs_in(mine.launched_from)) return f();
    std::lock_guard const lock(mutex_);
    f();
  }

  /// Returns when the kernel that runs has ended; at once within one.
  void wait() {
    if (!runs_in(current_kernel)) std::lock_guard const lock(mutex_);
  }

private:
  [[nodiscard]] bool runs_in(running_kernel const* kernel) const {
    while (kernel != nullptr && kernel->of != this) kernel = kernel->launched_from;
    return kernel != nullptr;
  }

  inlined_mutex mutex_;
};

} // namespace keel::space::detail
