// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// oneTBB as a Kokkos execution space, so that a Kokkos built for one thread runs on all cores.

#include <keel/policy/macros.hpp>

#if KEEL_WITH_TBB

#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>

#include <keel/impl/space/plugin_events.hpp>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace keel::space {

/// An execution space on the threads of oneTBB.
///
/// Kernels return when they are done, so a fence has nothing to wait for. Work
/// is cut evenly, one part a thread, and each part tends to stay on its thread,
/// as first touch wants it; a dynamic schedule cuts finer. Reductions join their
/// parts in order: the same number of threads gives the same bits. A team is one
/// thread wide. An instance is a handle on threads that all instances share.
class tbb {
public:
  using execution_space = tbb;
  using memory_space = Kokkos::HostSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using array_layout = Kokkos::LayoutRight;
  using size_type = std::size_t;
  using index_type = std::ptrdiff_t;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<tbb>;

  struct plugin;

  tbb();

  [[nodiscard]] static constexpr char const* name() { return "keel::space::tbb"; }
  /// Threads that run a kernel, the calling one included.
  [[nodiscard]] static int concurrency() { return threads().arena.max_concurrency(); }

  /// Nothing to wait for: kernels return when they are done.
  void fence(std::string const& = {}) const {}
  static void impl_static_fence(std::string const& = {}) {}
  static void print_configuration(std::ostream& out, bool detail = false);

  /// What Kokkos 3 asks before it initialises a view: a kernel may start another one.
  [[nodiscard]] static bool in_parallel() { return false; }
  /// Whether it may be used: Kokkos runs.
  [[nodiscard]] static bool impl_is_initialized();
  [[nodiscard]] std::uint32_t impl_instance_id() const { return 1; }
  friend bool operator==(tbb const&, tbb const&) { return true; }

  // What keel's engine asks of a space; see detail::Engine.
  [[nodiscard]] static std::int64_t impl_chunks(std::int64_t n) {
    return std::min<std::int64_t>(n, concurrency());
  }
  template <class F>
  static void impl_for_chunks(std::int64_t count, F const& f) {
    using range = ::tbb::blocked_range<std::int64_t>;
    if (count == 1) return f(std::int64_t{0});
    threads().arena.execute([&] {
      ::tbb::parallel_for(range(0, count, 1), [&](range const& r) { for (auto c = r.begin(); c != r.end(); ++c) f(c); },
                          ::tbb::static_partitioner{});
    });
  }
  template <class Closure>
  static void impl_launch(Closure const& closure) {
    closure.run();
  }

private:
  struct pool {
    ::tbb::task_arena arena;
    std::optional<::tbb::global_control> limit; // only where more threads than cores are wanted
  };
  /// The process's own, started with Kokkos and ended with it.
  static pool& threads() {
    static pool all;
    return all;
  }
};

/// Starts and ends the threads with Kokkos; enrolled by `start`, or by the first instance.
struct tbb::plugin {
  static constexpr std::string_view name = "tbb";
  static constexpr int order = 60;

  /// The number of threads the next start takes, in total; where it is empty, what Kokkos was told.
  static std::optional<int>& wanted_threads() {
    static std::optional<int> wanted;
    return wanted;
  }
  static void initialize(settings const& given) {
    // oneTBB gives an arena no more workers than cores, whatever it asks for, unless the limit is raised.
    using control = ::tbb::global_control;
    auto& pool = threads();
    int const wanted = wanted_threads().value_or(given.threads.value_or(int{::tbb::task_arena::automatic}));
    if (wanted > static_cast<int>(control::active_value(control::max_allowed_parallelism)))
      pool.limit.emplace(control::max_allowed_parallelism, static_cast<std::size_t>(wanted));
    pool.arena.terminate();
    pool.arena.initialize(wanted);
  }
  static void finalize() {
    threads().arena.terminate();
    threads().limit.reset();
  }
  static void fence(std::string const&) {}
  static void print_configuration(std::ostream& out, bool) {
    out << "keel::space::tbb: " << concurrency() << " threads of oneTBB " << TBB_VERSION_MAJOR << '.'
        << TBB_VERSION_MINOR << '\n';
  }
};

inline tbb::tbb() { detail::enroll<plugin>(); }

inline bool tbb::impl_is_initialized() {
  detail::enroll<plugin>();
  return detail::plugin_events<plugin>::running;
}

inline void tbb::print_configuration(std::ostream& out, bool detail) { plugin::print_configuration(out, detail); }

} // namespace keel::space

#include <keel/impl/space/execution_hooks.hpp>

#endif
