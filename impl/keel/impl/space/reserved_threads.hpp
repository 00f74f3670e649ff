// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Threads that run at the same time, as those of a team must.
///
/// oneTBB does not promise that two tasks run at once, and threads of a team that wait for each other need it. So wide
/// teams have threads of their own, started by the first kernel that has such teams.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace keel::space::detail {

/// Threads that sleep until there is work; it takes a mutex, and some microseconds, to wake them.
class reserved_threads {
public:
  reserved_threads() = default;
  reserved_threads(reserved_threads const&) = delete;
  reserved_threads& operator=(reserved_threads const&) = delete;
  ~reserved_threads() { stop(); }

  /// Calls f(0) … f(count - 1) at the same time, the first on the calling thread, and returns when all are done.
  /// An exception ends the program: the other threads may wait for the one that threw.
  template <class F>
  void run(int count, F const& f) {
    std::unique_lock const mine(in_use_, std::try_to_lock);
    if (!mine.owns_lock()) return reserved_threads().run(count, f); // a team launched a kernel with teams
    launch(count, [&f](int i) noexcept { f(i); });
    [&]() noexcept { f(0); }();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
    work_ = nullptr;
  }

  /// Ends the threads; a later `run` starts others.
  void stop() {
    {
      std::lock_guard const lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (auto& t : threads_) t.join();
    threads_.clear();
    stopping_ = false;
  }

private:
  void launch(int count, std::function<void(int)> work) {
    std::lock_guard const lock(mutex_);
    work_ = std::move(work);
    wanted_ = count;
    running_ = count - 1;
    ++turn_;
    while (int(threads_.size()) < count - 1) {
      int const number = int(threads_.size()) + 1;
      threads_.emplace_back([this, number, before = turn_ - 1] { serve(number, before); });
    }
    changed_.notify_all();
  }
  void serve(int number, std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stopping_ || turn_ != seen; });
      if (stopping_) return;
      seen = turn_;
      if (number >= wanted_) continue;
      lock.unlock();
      work_(number);
      lock.lock();
      if (--running_ == 0) changed_.notify_all();
    }
  }

  std::mutex in_use_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(int)> work_;
  int wanted_ = 0;
  int running_ = 0;
  std::uint64_t turn_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace keel::space::detail
