// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The threads of one instance of `keel::space::tbb`: an arena of oneTBB, or one on each of several NUMA regions.

#include <keel/impl/space/items.hpp>
#include <keel/impl/space/reserved_threads.hpp>
#include <keel/impl/space/turns.hpp>
#include <keel/policy/forks.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace keel::space::detail {

/// Tells ThreadSanitizer what it cannot see, because oneTBB's library is not compiled with it: every chunk of a
/// kernel comes after its launch and before its end. For all kernels alike, so two that run at once look ordered.
struct order_for_sanitizer {
#if defined(__SANITIZE_THREAD__)
  static void release() { __tsan_release(&place_); }
  static void acquire() { __tsan_acquire(&place_); }
  static inline char place_;
#else
  static void release() {}
  static void acquire() {}
#endif
};

/// oneTBB runs no more threads than cores, whatever an arena asks for, unless its limit is raised; it is kept
/// as high as the widest instance wanted it, until Kokkos ends.
class thread_limit {
public:
  static void raise(int threads) {
    using control = ::tbb::global_control;
    std::lock_guard const lock(mutex());
    auto const wanted = static_cast<std::size_t>(threads);
    if (wanted <= control::active_value(control::max_allowed_parallelism)) return;
    held().reset(); // of two limits the lower one counts
    held().emplace(control::max_allowed_parallelism, wanted);
  }
  /// Bytes of the stack of every thread that oneTBB starts from now on; those that run keep theirs.
  static void set_stack(std::int64_t bytes) {
    std::lock_guard const lock(mutex());
    held_stack().reset();
    held_stack().emplace(::tbb::global_control::thread_stack_size, static_cast<std::size_t>(bytes));
  }
  static void drop() {
    std::lock_guard const lock(mutex());
    held().reset();
    held_stack().reset();
  }

private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::optional<::tbb::global_control>& held() {
    static std::optional<::tbb::global_control> one;
    return one;
  }
  static std::optional<::tbb::global_control>& held_stack() {
    static std::optional<::tbb::global_control> one;
    return one;
  }
};

/// Whether this process was forked from one that uses oneTBB: its threads are not here, and cannot be started again.
inline bool lacks_threads_of_tbb() {
  static unsigned const at_first_use = policy::forks();
  return policy::is_forked_since(at_first_use);
}

/// Threads, cut over the NUMA regions they are bound to. Regions are oneTBB's, which finds them by hwloc. In a process
/// forked from one that uses oneTBB, the calling thread does the work of all.
class arenas {
public:
  explicit arenas(std::uint32_t id) : id_(id) {}
  arenas(arenas const&) = delete;
  arenas& operator=(arenas const&) = delete;
  ~arenas() { stop(); }

  /// `wanted` threads altogether, by default as many as there are cores; on `regions`, or, where there are
  /// none, wherever the system puts them. Not while a kernel runs.
  void start(std::optional<int> wanted, std::vector<int> regions = {}) {
    using constraints = ::tbb::task_arena::constraints;
    stop();
    if (lacks_threads_of_tbb()) return ends_.push_back(wanted.value_or(1));
    if (wanted) thread_limit::raise(*wanted);
    if (wanted && *wanted < static_cast<int>(regions.size())) regions.resize(static_cast<std::size_t>(*wanted));
    bound_ = !regions.empty();
    if (!bound_) regions = {::tbb::task_arena::automatic};
    auto const count = static_cast<std::int64_t>(regions.size());
    for (std::int64_t r = 0; r < count; ++r) {
      constraints c;
      c.set_numa_id(regions[static_cast<std::size_t>(r)]);
      if (wanted) {
        auto const [begin, end] = part(*wanted, count, r);
        c.set_max_concurrency(static_cast<int>(end - begin));
      }
      // The caller works in the first; in the others its place would stay empty.
      arenas_.push_back(std::make_unique<::tbb::task_arena>(c, r == 0 ? 1u : 0u));
      arenas_.back()->initialize();
      ends_.push_back(threads() + arenas_.back()->max_concurrency());
    }
  }
  void stop() {
    reserved_.stop();
    if (lacks_threads_of_tbb()) // which an arena's end would wait for
      for (auto& a : arenas_) static_cast<void>(a.release());
    arenas_.clear();
    ends_.clear();
  }

  /// Threads that run a kernel, the calling one included; 0 before the start.
  [[nodiscard]] int threads() const { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] int regions() const { return std::max(1, static_cast<int>(arenas_.size())); }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] bool is_bound() const { return bound_; }

  /// Runs a kernel, `f()`, when those that other host threads launched before are done.
  template <class F>
  void run_kernel(F const& f) {
    turns_.take(f);
  }
  /// The number of the calling thread among those of the instance whose kernel it works on; 0 outside of kernels.
  [[nodiscard]] static int thread_number() {
    if (current_kernel == nullptr) return 0;
    if (current_kernel->is_numbered) return current_kernel->first_thread;
    return current_kernel->first_thread + std::max(0, ::tbb::this_task_arena::current_thread_index());
  }
  /// Returns when the kernel that another host thread launched has ended; at once within a kernel.
  void wait() { turns_.wait(); }

  /// Calls f(0) … f(count - 1) and returns when all are done. Every region, and in it every thread, tends to get
  /// the same ones each time, as first touch wants it; where there are more than threads, whoever is free takes the next.
  template <class F>
  void for_chunks(std::int64_t count, F const& f) {
    if (count == 1 && !bound_) return f(std::int64_t{0});
    if (lacks_threads_of_tbb()) {
      for (std::int64_t c = 0; c < count; ++c) f(c);
      return;
    }
    run_chunks(count, f);
    order_for_sanitizer::acquire();
  }

  /// Calls f(0) … f(count - 1) at the same time on threads of their own, which are bound nowhere. `f` must not throw.
  template <class F>
  void run_together(int count, F const& f) {
    auto const* const kernel = current_kernel;
    reserved_.run(count, [&](int i) {
      running_kernel const here{kernel->of, kernel->launched_from, i, true};
      kernel_scope const scope(&here);
      f(i);
    });
  }

private:
  template <class F>
  void run_chunks(std::int64_t count, F const& f) {
    auto const* const kernel = current_kernel; // a thread of the arena may run what follows
    if (arenas_.size() == 1) {
      // Entering an arena costs a quarter of an empty kernel. The one that the caller is in will do if it is as wide.
      // Isolated, because it may have other tasks ready, and one that launches a kernel would start it within this one.
      if (!bound_ && ::tbb::this_task_arena::max_concurrency() == ends_.front())
        return ::tbb::this_task_arena::isolate([&] { spread(kernel, 0, count, f); });
      return arenas_.front()->execute([&] { spread(kernel, 0, count, f); });
    }
    arenas_.front()->execute([&] {
      ::tbb::task_group others;
      order_for_sanitizer::release();
      for (std::size_t r = 1; r < arenas_.size(); ++r)
        arenas_[r]->enqueue(others.defer([&, r] {
          order_for_sanitizer::acquire();
          running_kernel const here{kernel->of, kernel->launched_from, ends_[r - 1]};
          spread(&here, border(count, ends_[r - 1]), border(count, ends_[r]), f);
        }));
      spread(kernel, 0, border(count, ends_.front()), f);
      others.wait();
    });
  }

  [[nodiscard]] std::int64_t border(std::int64_t count, int end) const {
    return (count * end + ends_.back() - 1) / ends_.back();
  }

  template <class F>
  void spread(running_kernel const* kernel, std::int64_t begin, std::int64_t end, F const& f) const {
    auto const run = [&](std::int64_t c) {
      kernel_scope const scope(kernel);
      order_for_sanitizer::acquire();
      f(c);
      order_for_sanitizer::release();
    };
    order_for_sanitizer::release();
    if (end - begin <= threads())
      ::tbb::parallel_for(begin, end, run, ::tbb::static_partitioner{});
    else
      ::tbb::parallel_for(begin, end, run, ::tbb::simple_partitioner{});
  }

  std::uint32_t id_;
  turns turns_;
  reserved_threads reserved_;
  std::vector<std::unique_ptr<::tbb::task_arena>> arenas_;
  std::vector<int> ends_; // threads of the regions up to each
  bool bound_ = false;
};

} // namespace keel::space::detail
