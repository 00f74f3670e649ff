// SPDX-License-Identifier: MIT
#include <keel/impl/space/queue.hpp>
#include <keel/impl/space/guarded_pages.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/printable.hpp>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace keel::space::detail {

/// What a queue and its thread share.
struct queue::worker {
  /// Prints what was thrown if nothing waits for it any more.
  static void print(std::exception_ptr const& lost) noexcept {
    try {
      std::rethrow_exception(lost);
    } catch (std::exception const& e) {
      policy::print_line({"keel::space::simulated: a kernel threw, and nothing waited for it (", e.what(),
                          "). Fence before the end."});
    } catch (...) {
      policy::print_line("keel::space::simulated: a kernel threw, and nothing waited for it. Fence before the end.");
    }
  }

  void work() noexcept {
    device_scope const scope;
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || !tasks.empty(); });
      if (tasks.empty()) return;
      { // the task is gone before it counts as done: it may hold what the waiter takes back
        auto const task = std::move(tasks.front());
        tasks.pop_front();
        bool const is_dropped = thrown != nullptr;
        lock.unlock();
        if (auto caught = is_dropped ? nullptr : run(task)) {
          lock.lock();
          thrown = std::move(caught);
          lock.unlock();
        }
      }
      lock.lock();
      ++done;
      changed.notify_all();
    }
  }

  static std::exception_ptr run(std::function<void()> const& task) noexcept {
    std::exception_ptr caught;
    guarded_pages::all().enter();
    try {
      task();
    } catch (...) {
      caught = std::current_exception();
    }
    guarded_pages::all().leave();
    return caught;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  std::uint64_t pushed = 0;
  std::uint64_t done = 0;
  bool stopping = false;
  std::exception_ptr thrown;
  std::thread thread;
};

KEEL_INLINE queue::queue(std::uint32_t number) : number_(number), worker_(std::make_unique<worker>()) {}
KEEL_INLINE queue::~queue() { stop(); }

KEEL_INLINE void queue::require_running(char const* what) {
  if (is_recording)
    throw error("space::simulated", std::string("what is recorded ") + what,
                "that would not happen when it is launched", "Do it before");
}
KEEL_INLINE void queue::record() {
  kept_ = std::make_unique<std::vector<std::function<void()>>>();
  is_recording = true;
}
KEEL_INLINE std::function<void()> queue::recorded() {
  is_recording = false;
  std::shared_ptr<std::vector<std::function<void()>> const> const all = std::move(kept_);
  if (all == nullptr || all->empty()) return {};
  return [all] {
    for (auto const& task : *all) task();
  };
}

KEEL_INLINE void queue::push(std::function<void()> task) {
  if (is_recording && kept_ != nullptr) return kept_->push_back(std::move(task));
  require_running("launches on another instance");
  if (policy::is_forked_since(forks_))
    throw error("space::simulated", "a kernel or copy cannot run", "fork() copies no threads, and this is the child",
                "Compute in the parent, or start Kokkos after fork()");
  auto& w = *worker_;
  std::unique_lock lock(w.mutex);
  if (w.tasks.size() >= most_ahead && !plays_device)
    w.changed.wait(lock, [&] { return w.tasks.size() < most_ahead / 2; });
  if (!w.thread.joinable()) w.thread = std::thread(&worker::work, &w);
  w.tasks.push_back(std::move(task));
  ++w.pushed;
  w.changed.notify_all();
}

KEEL_INLINE void queue::wait() {
  require_running("waits");
  drain();
  rethrow();
}
KEEL_INLINE void queue::drain() {
  if (plays_device || policy::is_forked_since(forks_)) return;
  auto& w = *worker_;
  std::unique_lock lock(w.mutex);
  auto const until = w.pushed;
  w.changed.wait(lock, [&] { return w.done >= until; });
}
KEEL_INLINE void queue::rethrow() {
  if (plays_device || std::uncaught_exceptions() > 0 || policy::is_forked_since(forks_)) return;
  std::unique_lock lock(worker_->mutex);
  if (auto const thrown = std::exchange(worker_->thrown, nullptr)) {
    lock.unlock();
    std::rethrow_exception(thrown);
  }
}
KEEL_INLINE void queue::stop() {
  if (policy::is_forked_since(forks_)) return;
  auto& w = *worker_;
  {
    std::lock_guard const lock(w.mutex);
    if (w.thread.joinable()) w.stopping = true;
    w.changed.notify_all();
  }
  if (w.thread.joinable()) w.thread.join();
  std::lock_guard const lock(w.mutex);
  w.stopping = false;
  if (auto const thrown = std::exchange(w.thrown, nullptr)) worker::print(thrown);
}

struct queues::list {
  std::mutex mutex;
  queue first{1};
  std::list<queue> more;
};

// Never destroyed, because Kokkos may fence while the process ends, after main; its threads end then.
KEEL_INLINE queues& queues::all() {
  static queues& instance = *new queues;
  return instance;
}
KEEL_INLINE queues::queues() : list_(std::make_unique<list>()) {
  guarded_pages::all(); // made first, so it outlives the threads
  std::atexit([] { all().stop(); });
}
KEEL_INLINE queue& queues::first() { return list_->first; }
KEEL_INLINE queue& queues::add() {
  std::lock_guard const lock(list_->mutex);
  return list_->more.emplace_back(std::uint32_t(list_->more.size() + 2));
}

template <class F>
void queues::for_each(F const& f) {
  f(list_->first);
  std::unique_lock lock(list_->mutex);
  for (auto at = list_->more.begin(); at != list_->more.end(); ++at) { // a list: adding moves none
    lock.unlock();
    f(*at);
    lock.lock();
  }
}
KEEL_INLINE void queues::wait() {
  queue::require_running("waits");
  drain();
  for_each([](queue& q) { q.rethrow(); });
}
KEEL_INLINE void queues::drain() {
  for_each([](queue& q) { q.drain(); });
}
KEEL_INLINE void queues::stop() {
  for_each([](queue& q) { q.stop(); });
}

} // namespace keel::space::detail
