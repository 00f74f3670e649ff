// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Queues that run tasks in order, behind their caller.

#include <keel/impl/space/device_thread.hpp>
#include <keel/impl/space/guarded_pages.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

namespace keel::space::detail {

/// One queue with a thread of its own, which starts with the first task and
/// plays the device. Tasks must not throw: there is nobody to catch.
class queue {
public:
  explicit queue(std::uint32_t number) : number_(number) {}
  queue(queue const&) = delete;
  queue& operator=(queue const&) = delete;
  ~queue() { stop(); }

  /// What Kokkos' tools know it by. They keep 17 bits of it.
  [[nodiscard]] std::uint32_t number() const { return number_; }

  /// Returns at once; the task runs after all that were pushed before it.
  void push(std::function<void()> task) {
    std::lock_guard const lock(mutex_);
    if (!worker_.joinable()) worker_ = std::thread(&queue::work, this);
    tasks_.push_back(std::move(task));
    ++pushed_;
    changed_.notify_all();
  }

  /// Returns when everything pushed before the call is done; at once on a device
  /// thread, which would wait for itself.
  void wait() {
    if (plays_device) return;
    std::unique_lock lock(mutex_);
    auto const until = pushed_;
    changed_.wait(lock, [&] { return done_ >= until; });
  }

  /// Finishes what is pushed and ends the thread; a later `push` starts another.
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      if (!worker_.joinable()) return;
      stopping_ = true;
      changed_.notify_all();
    }
    worker_.join();
    std::lock_guard const lock(mutex_);
    stopping_ = false;
  }

private:
  void work() noexcept {
    device_scope const scope;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      { // the task is gone before it counts as done: it may hold what the waiter takes back
        auto const task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        guarded_pages::all().enter();
        task();
        guarded_pages::all().leave();
      }
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  std::uint32_t const number_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::uint64_t pushed_ = 0;
  std::uint64_t done_ = 0;
  bool stopping_ = false;
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
  /// Of all: returns when what was pushed before the call is done.
  void wait() {
    for_each([](queue& q) { q.wait(); });
  }
  void stop() {
    for_each([](queue& q) { q.stop(); });
  }

private:
  queues() { guarded_pages::all(); } // made first, so it outlives the threads

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
