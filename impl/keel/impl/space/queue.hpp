// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Queues that run tasks in order, behind their caller.

#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/guarded_pages.hpp>
#include <keel/policy/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace keel::space::detail {

/// One queue with a thread of its own, which starts with the first task and
/// plays the device. What a task throws, the next `wait` throws; the tasks between the two are dropped, because
/// their caller would not have come to them if it had waited each time.
class queue {
public:
  static constexpr std::size_t most_ahead = 4096;

  explicit queue(std::uint32_t number) : number_(number) {}
  queue(queue const&) = delete;
  queue& operator=(queue const&) = delete;
  ~queue() { stop(); }

  /// What Kokkos' tools know it by. They keep 17 bits of it.
  [[nodiscard]] std::uint32_t number() const { return number_; }

  /// Returns at once; the task runs after all that were pushed before it. Where `most_ahead` tasks wait, returns when half
  /// of them have begun, as a GPU's driver does, because a caller that never fences would fill the memory.
  void push(std::function<void()> task) {
    std::unique_lock lock(mutex_);
    if (tasks_.size() >= most_ahead && !plays_device)
      changed_.wait(lock, [&] { return tasks_.size() < most_ahead / 2; });
    if (!worker_.joinable()) worker_ = std::thread(&queue::work, this);
    tasks_.push_back(std::move(task));
    ++pushed_;
    changed_.notify_all();
  }

  /// Returns when everything pushed before the call is done; at once on a device
  /// thread, which would wait for itself. Throws what a task threw.
  void wait() {
    drain();
    rethrow();
  }
  /// The same for destructors: an exception stays for the next `wait`.
  void drain() {
    if (plays_device) return;
    std::unique_lock lock(mutex_);
    auto const until = pushed_;
    changed_.wait(lock, [&] { return done_ >= until; });
  }
  /// Throws what a task threw, once; not while another exception is under way.
  void rethrow() {
    if (plays_device || std::uncaught_exceptions() > 0) return;
    std::unique_lock lock(mutex_);
    if (auto const thrown = std::exchange(thrown_, nullptr)) {
      lock.unlock();
      std::rethrow_exception(thrown);
    }
  }

  /// Finishes what is pushed and ends the thread; a later `push` starts another. An exception that nothing waited for is
  /// printed.
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      if (worker_.joinable()) stopping_ = true;
      changed_.notify_all();
    }
    if (worker_.joinable()) worker_.join();
    std::lock_guard const lock(mutex_);
    stopping_ = false;
    if (auto const thrown = std::exchange(thrown_, nullptr)) print(thrown);
  }

  /// Around `fork`, so that the child finds the queue between two changes.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// In the child, which has no thread of the parent's: the next `push` starts one. What was not done is left to the
  /// parent, and the next `wait` says so.
  void after_fork_in_child() {
    std::construct_at(&worker_); // over the old ones, whose destructors would wait for the parent's threads
    std::construct_at(&changed_);
    stopping_ = false;
    if (done_ != pushed_) {
      thrown_ = std::make_exception_ptr(
          error("space::simulated", "a kernel or copy is left to the parent process", "fork() copies no threads, and it "
                "was not done", "Fence before fork()"));
      std::construct_at(&tasks_);
      done_ = pushed_;
    }
    mutex_.unlock();
  }

private:
  static void print(std::exception_ptr const& thrown) noexcept {
    try {
      std::rethrow_exception(thrown);
    } catch (std::exception const& e) {
      std::fprintf(stderr, "keel::space::simulated: a kernel threw, and nothing waited for it (%s). Fence before the end?\n", e.what());
    } catch (...) {
      std::fprintf(stderr, "keel::space::simulated: a kernel threw, and nothing waited for it. Fence before the end?\n");
    }
  }

  void work() noexcept {
    device_scope const scope;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      { // the task is gone before it counts as done: it may hold what the waiter takes back
        auto const task = std::move(tasks_.front());
        tasks_.pop_front();
        bool const is_dropped = thrown_ != nullptr;
        lock.unlock();
        if (auto thrown = is_dropped ? nullptr : run(task)) {
          lock.lock();
          thrown_ = std::move(thrown);
          lock.unlock();
        }
      }
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  static std::exception_ptr run(std::function<void()> const& task) noexcept {
    std::exception_ptr thrown;
    guarded_pages::all().enter();
    try {
      task();
    } catch (...) {
      thrown = std::current_exception();
    }
    guarded_pages::all().leave();
    return thrown;
  }

  std::uint32_t const number_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t pushed_ = 0;
  std::uint64_t done_ = 0;
  bool stopping_ = false;
  std::exception_ptr thrown_;
  std::thread worker_;
};

/// Every queue of the process, the default one first. They live until the process
/// ends, so that an instance may be copied and kept like a number.
class queues {
public:
  static queues& all() {
    static queues instance;
    return instance;
  }
  [[nodiscard]] queue& first() { return first_; }
  /// One more, never taken away.
  queue& add() {
    std::lock_guard const lock(mutex_);
    return more_.emplace_back(static_cast<std::uint32_t>(more_.size() + 2));
  }
  /// Of all: returns when what was pushed before the call is done; throws what a task threw.
  void wait() {
    drain();
    for_each([](queue& q) { q.rethrow(); });
  }
  void drain() {
    for_each([](queue& q) { q.drain(); });
  }
  void stop() {
    for_each([](queue& q) { q.stop(); });
  }

private:
  queues() {
    guarded_pages::all(); // made first, so it outlives the threads
    pthread_atfork([] { all().before_fork(); }, [] { all().after_fork([](queue& q) { q.after_fork(); }); },
                   [] { all().after_fork([](queue& q) { q.after_fork_in_child(); }); });
  }
  void before_fork() {
    mutex_.lock();
    first_.before_fork();
    for (auto& q : more_) q.before_fork();
    guarded_pages::all().before_fork();
  }
  // No pointer to a member: nvcc with --expt-relaxed-constexpr looks for it on the device.
  void after_fork(void (*of_each)(queue&)) {
    guarded_pages::all().after_fork();
    for (auto& q : more_) of_each(q);
    of_each(first_);
    mutex_.unlock();
  }

  template <class F>
  void for_each(F const& f) {
    f(first_);
    std::unique_lock lock(mutex_);
    for (auto at = more_.begin(); at != more_.end(); ++at) { // a list: adding moves none
      lock.unlock();
      f(*at);
      lock.lock();
    }
  }

  std::mutex mutex_;
  queue first_{1};
  std::list<queue> more_;
};

} // namespace keel::space::detail
