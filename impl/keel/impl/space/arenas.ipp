// SPDX-License-Identifier: MIT
#include <keel/impl/space/arenas.hpp>
#include <keel/impl/space/reserved_threads.hpp>
#include <keel/policy/error.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <cstddef>
#include <mutex>

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
#endif

namespace keel::space::detail {

/// Shows ThreadSanitizer what it cannot see, because oneTBB's library is not compiled with it: every chunk of a
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
  /// Also if an exception passes.
  struct release_at_end {
    ~release_at_end() { release(); }
  };
  struct acquire_at_end {
    ~acquire_at_end() { acquire(); }
  };
};

/// What an instance has of oneTBB, and beside it.
struct arenas::threads_of_tbb {
  [[nodiscard]] std::int64_t border(std::int64_t count, int end) const {
    return (count * end + ends.back() - 1) / ends.back();
  }

  reserved_threads reserved;
  ::tbb::task_group_context context{::tbb::task_group_context::isolated}; // of the kernel that has the turn
  std::vector<std::unique_ptr<::tbb::task_arena>> by_region;
  std::vector<int> ends; // threads of the regions up to each
};

KEEL_INLINE arenas::arenas(std::uint32_t id) : id_(id), own_(std::make_unique<threads_of_tbb>()) {
  static unsigned const at_first_use = policy::forks();
  forks_ = at_first_use;
}
KEEL_INLINE arenas::~arenas() { stop(); }
KEEL_INLINE void arenas::throw_in_child() {
  throw error("space::tbb", "a kernel cannot run", "fork() copies no threads, and this is the child",
              "Compute in the parent, or start Kokkos after fork()");
}

KEEL_INLINE void arenas::start(std::optional<int> wanted, std::vector<int> regions) {
  using constraints = ::tbb::task_arena::constraints;
  refuse_child();
  stop();
  if (wanted) thread_limit::raise(*wanted);
  if (wanted && *wanted < int(regions.size())) regions.resize(std::size_t(*wanted));
  bound_ = !regions.empty();
  if (!bound_) regions = {::tbb::task_arena::automatic};
  regions_ = int(regions.size());
  for (int r = 0; r < regions_; ++r) {
    constraints c;
    c.set_numa_id(regions[std::size_t(r)]);
    if (wanted) {
      auto const [begin, end] = part(*wanted, regions_, r);
      c.set_max_concurrency(int(end - begin));
    }
    // The caller works in the first; in the others its place would stay empty.
    own_->by_region.push_back(std::make_unique<::tbb::task_arena>(c, r == 0 ? 1u : 0u));
    own_->by_region.back()->initialize();
    own_->ends.push_back(threads_ += own_->by_region.back()->max_concurrency());
  }
}

KEEL_INLINE void arenas::stop() {
  if (policy::is_forked_since(forks_)) {
    (void)own_.release(); // its end would wait for the parent's threads
  } else {
    own_->reserved.stop();
    own_->by_region.clear();
    own_->ends.clear();
  }
  threads_ = 0;
  regions_ = 1;
  bound_ = false;
}

KEEL_INLINE int arenas::thread_number() {
  if (current_kernel == nullptr) return 0;
  if (current_kernel->is_numbered) return current_kernel->first_thread;
  return current_kernel->first_thread + std::max(0, ::tbb::this_task_arena::current_thread_index());
}

/// Calls f(begin) … f(end - 1) on the threads of the arena that the caller is in. The context is isolated, so that a
/// kernel is whole if the program cancels the task of its own that launched it.
inline void spread(running_kernel const* kernel, std::int64_t begin, std::int64_t end, int threads,
                   numbered_call const& f, ::tbb::task_group_context& context) {
  using chunks = ::tbb::blocked_range<std::int64_t>;
  auto const run = [&](chunks const& some) {
    order_for_sanitizer::acquire(); // before it looks at what the caller wrote
    order_for_sanitizer::release_at_end const ordered;
    kernel_scope const scope(kernel);
    for (auto c = some.begin(); c != some.end(); ++c) f(c);
  };
  order_for_sanitizer::release();
  if (end - begin <= threads) ::tbb::parallel_for(chunks(begin, end), run, ::tbb::static_partitioner{}, context);
  else ::tbb::parallel_for(chunks(begin, end), run, ::tbb::simple_partitioner{}, context);
}
inline void spread(running_kernel const* kernel, std::int64_t begin, std::int64_t end, int threads,
                   numbered_call const& f) {
  ::tbb::task_group_context own(::tbb::task_group_context::isolated);
  spread(kernel, begin, end, threads, f, own);
}

KEEL_INLINE void arenas::run_chunks(std::int64_t count, numbered_call const& f) {
  auto const* const kernel = current_kernel; // a thread of the arena may run what follows
  auto const& by_region = own_->by_region;
  order_for_sanitizer::acquire_at_end const ordered;
  if (by_region.size() == 1) {
    auto const all = [&] {
      // Making a context costs a tenth of an empty kernel. A kernel that has the turn takes the instance's.
      if (kernel->launched_from != nullptr) return spread(kernel, 0, count, threads_, f);
      try {
        spread(kernel, 0, count, threads_, f, own_->context);
      } catch (...) {
        own_->context.reset();
        throw;
      }
    };
    // Entering an arena costs a quarter of an empty kernel. The one that the caller is in will do if it is as wide.
    // Isolated, because it may have other tasks ready, and one that launches a kernel would start it within this one.
    if (!bound_ && ::tbb::this_task_arena::max_concurrency() == threads_) ::tbb::this_task_arena::isolate(all);
    else by_region.front()->execute(all);
  } else {
    auto const& ends = own_->ends;
    by_region.front()->execute([&] {
      ::tbb::task_group others;
      order_for_sanitizer::release();
      for (std::size_t r = 1; r < by_region.size(); ++r)
        by_region[r]->enqueue(others.defer([&, r] {
          order_for_sanitizer::acquire();
          running_kernel const here{kernel->of, kernel->launched_from, ends[r - 1]};
          spread(&here, own_->border(count, ends[r - 1]), own_->border(count, ends[r]), threads_, f);
        }));
      spread(kernel, 0, own_->border(count, ends.front()), threads_, f);
      others.wait();
    });
  }
}

KEEL_INLINE void arenas::run_numbered(int count, numbered_call const& f) {
  auto const* const kernel = current_kernel;
  own_->reserved.run(count, [&](int i) {
    running_kernel const here{kernel->of, kernel->launched_from, i, true};
    kernel_scope const scope(&here);
    f(i);
  });
}

/// The limits that are set now.
struct limits_of_tbb {
  using control = ::tbb::global_control;
  std::mutex mutex;
  std::optional<control> threads;
  std::optional<control> stack;
  static limits_of_tbb& held() {
    static limits_of_tbb one;
    return one;
  }
};

KEEL_INLINE void thread_limit::raise(int threads) {
  using control = ::tbb::global_control;
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  auto const wanted = std::size_t(threads);
  if (wanted <= control::active_value(control::max_allowed_parallelism)) return;
  held.threads.reset(); // of two limits the lower one counts
  held.threads.emplace(control::max_allowed_parallelism, wanted);
}
KEEL_INLINE void thread_limit::set_stack(std::int64_t bytes) {
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  held.stack.reset();
  held.stack.emplace(::tbb::global_control::thread_stack_size, std::size_t(bytes));
}
KEEL_INLINE void thread_limit::drop() {
  auto& held = limits_of_tbb::held();
  std::lock_guard const lock(held.mutex);
  held.threads.reset();
  held.stack.reset();
}

KEEL_INLINE std::vector<int> numa_regions_of_tbb() {
  auto const all = ::tbb::info::numa_nodes();
  return {all.begin(), all.end()};
}
KEEL_INLINE std::string version_of_tbb() {
  return std::to_string(TBB_VERSION_MAJOR) + '.' + std::to_string(TBB_VERSION_MINOR);
}

} // namespace keel::space::detail
