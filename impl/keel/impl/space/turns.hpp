// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Turns: kernels that several host threads launch on one instance run one after another.

#include <atomic>

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

/// The turns of one instance.
///
/// A kernel launched from a kernel of the same instance, directly or through
/// kernels of others, runs at once: it is part of its ancestor's turn. Two host threads that
/// launch from kernels on each other's instance wait for ever.
///
/// Taking a free turn costs two inlined atomic operations, because an empty kernel is not
/// much longer than two calls of a system's mutex.
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
    if (is_part_of(mine.launched_from)) return f();
    taken const turn(*this);
    f();
  }

  /// Returns when the kernel that runs has ended; at once within one.
  void wait() {
    if (!is_part_of(current_kernel)) taken const turn(*this);
  }

  /// Whether `kernel`, or one that it was launched from, has this turn.
  [[nodiscard]] bool is_part_of(running_kernel const* kernel) const {
    while (kernel != nullptr && kernel->of != this) kernel = kernel->launched_from;
    return kernel != nullptr;
  }

private:
  enum state : int {
    free,
    in_use,
    awaited ///< in use, and a thread may sleep until it is free
  };

  /// Has the turn for as long as it lives.
  class taken {
  public:
    explicit taken(turns& of) : of_(of) {
      int expected = free;
      if (of_.state_.compare_exchange_strong(expected, in_use, std::memory_order_acquire)) return;
      while (of_.state_.exchange(awaited, std::memory_order_acquire) != free) of_.state_.wait(awaited);
    }
    ~taken() {
      if (of_.state_.exchange(free, std::memory_order_release) == awaited) of_.state_.notify_one();
    }
    taken(taken const&) = delete;
    taken& operator=(taken const&) = delete;

  private:
    turns& of_;
  };

  std::atomic<int> state_ = free;
};

} // namespace keel::space::detail
