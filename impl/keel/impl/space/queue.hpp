// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Queues that run tasks asynchronously, in order.

#include <keel/impl/space/device_thread.hpp>
#include <keel/policy/forks.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace keel::space::detail {

/// One queue with a thread of its own, which starts with the first task and
/// executes for the device. What a task throws, the next `wait` throws; the tasks between the two are dropped, because
/// their caller would not have come to them if it had waited each time.
class queue {
public:
  static constexpr std::size_t most_ahead = 4096;

  explicit queue(std::uint32_t number);
  queue(queue const&) = delete;
  queue& operator=(queue const&) = delete;
  ~queue();

  /// What Kokkos' tools know it by. They keep 17 bits of it.
  [[nodiscard]] std::uint32_t number() const { return number_; }

  /// Returns at once; the task runs after all that were pushed before it. If `most_ahead` tasks wait, returns when
  /// half of them have begun, as a GPU's driver does, because a caller that never fences would fill the memory. Throws
  /// in the child of a fork, which has no threads of its parent's.
  void push(std::function<void()> task);
  /// From here on the thread's tasks are kept until `recorded`, which returns them as one. What waits, or makes memory,
  /// or pushes to another queue meanwhile throws: it would not happen again with them.
  void record();
  [[nodiscard]] std::function<void()> recorded();
  /// Throws if the calling thread records.
  static void require_running(char const* what);

  /// Returns when everything pushed before the call is done; at once on a device
  /// thread, which would wait for itself. Throws what a task threw.
  void wait();
  /// Waits, for destructors: an exception stays for the next `wait`.
  void drain();
  /// Throws what a task threw, once; not while another exception is under way.
  void rethrow();

  /// Finishes what is pushed and ends the thread; a later `push` starts another. An exception that nothing waited for
  /// is printed.
  void stop();

private:
  struct worker;

  std::uint32_t const number_;
  unsigned const forks_ = policy::forks();
  std::unique_ptr<worker> worker_;
  std::unique_ptr<std::vector<std::function<void()>>> kept_; // while it records
};

/// Every queue of the process, the default one first. They live until the process
/// ends, so that an instance may be copied and kept like a number.
class queues {
public:
  static queues& all();
  [[nodiscard]] queue& first();
  /// One more, never taken away.
  queue& add();
  /// Returns when what was pushed to any of them before the call is done; throws what a task threw.
  void wait();
  void drain();
  void stop();

private:
  struct list;
  queues();
  template <class F>
  void for_each(F const& f);

  std::unique_ptr<list> list_;
};

} // namespace keel::space::detail

#if !KEEL_COMPILED
#include <keel/impl/space/queue.ipp>
#endif
