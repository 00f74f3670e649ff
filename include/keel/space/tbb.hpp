// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// oneTBB as a Kokkos execution space, so that a Kokkos built for one thread runs on all cores.

#include <keel/policy/macros.hpp>

#if KEEL_WITH_TBB

#include <keel/policy/error.hpp>
#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>

#include <keel/impl/space/arenas.hpp>
#include <keel/impl/space/huge_pages.hpp>
#include <keel/impl/space/enroll.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::space {

/// A NUMA region with cores that this process may use; they count from 0, in the system's order.
struct numa_region {
  int number = 0;
};

/// An execution space on the threads of oneTBB.
///
/// Kernels return when they are done. Those that several host threads launch on
/// one instance run one after another; a fence waits for the one that runs. A
/// kernel launched from a kernel runs within it. Two host threads whose kernels launch on each other's instance
/// wait for ever. Work is cut evenly, one part a
/// thread, and each part tends to stay on its thread, as first touch wants it; a
/// dynamic schedule cuts finer. Reductions join their parts in order: the same
/// number of threads gives the same bits. Teams are as wide as wanted, up to all
/// threads; those wider than one run on threads reserved for them. An instance
/// is a handle: its copies share its threads.
///
/// What a kernel throws reaches the caller once no part of the kernel runs. Kokkos'
/// tools are then notified of the kernel's begin and not of its end, on its own spaces as on this one,
/// because only `parallel_for` knows the number that the end names.
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

  /// The process's own threads, as many as the knobs say.
  tbb();
  /// Threads of its own, `wanted.threads` altogether, cut over the first `wanted.numa_regions` regions and bound there
  /// if that is more than one. They end with the last copy. Throws if there are fewer regions.
  // A template, because braces that open an index of a policy could else become settings.
  template <std::same_as<settings> Settings>
  explicit tbb(Settings const& wanted) : tbb(wanted.threads, first_regions(wanted.numa_regions)) {}
  /// An instance with so many threads, wherever the system puts them, or bound to one region.
  explicit tbb(int threads) : tbb(settings{.threads = threads}) {}
  tbb(int threads, numa_region on) : tbb(threads, std::vector{region(on.number)}) {}
  /// Counts the copy, unless Kokkos makes it for a kernel that runs: then views are not counted either.
  tbb(tbb const& other) : arenas_(views_are_counted() ? other.arenas_ : not_owned(other.arenas_.get())) {}
  tbb(tbb&&) noexcept = default;
  tbb& operator=(tbb const&) = default;
  tbb& operator=(tbb&&) noexcept = default;
  ~tbb() = default;

  [[nodiscard]] static constexpr char const* name() { return "keel::space::tbb"; }
  /// Threads that run a kernel of this instance, the calling one included.
  [[nodiscard]] int threads() const { return arenas_->threads(); }
  /// NUMA regions that they are cut over and bound to; 1 if they are not bound.
  [[nodiscard]] int numa_regions() const { return arenas_->regions(); }
  /// The sizes that the stack of a thread which oneTBB starts can have.
  [[nodiscard]] static bounds stack_sizes() { return {.least = 64 << 10, .most = std::int64_t{16} << 30}; }
  /// NUMA regions that this process has cores in; 1 if oneTBB came without its binding library.
  [[nodiscard]] static int max_numa_regions() { return int(detail::numa_regions_of_tbb().size()); }
#if KOKKOS_VERSION < 40000 // which asks the type, not an instance
  [[nodiscard]] static int concurrency() { return own().threads(); }
#else
  [[nodiscard]] int concurrency() const { return threads(); }
#endif

  /// Returns when the kernel that another host thread launched on this instance has ended; at once within a kernel.
  void fence(std::string const& label = {}) const;
  /// Waits for kernels of the process's own threads; tools see it as a fence of all instances.
  static void impl_static_fence(std::string const& label = {});
  static void print_configuration(std::ostream& out, bool detail = false);

  /// What Kokkos 3 asks before it initialises a view: a kernel may start another one.
  [[nodiscard]] static bool in_parallel() { return false; }
  /// Whether it may be used: Kokkos runs.
  [[nodiscard]] static bool impl_is_initialized();
  /// The calling thread among those that run the same kernel, and how many of these there are.
  [[nodiscard]] static unsigned impl_hardware_thread_id() { return unsigned(detail::arenas::thread_number()); }
  [[nodiscard]] static unsigned impl_max_hardware_threads() { return unsigned(own().threads()); }
  /// 1 is the process's own.
  [[nodiscard]] std::uint32_t impl_instance_id() const { return arenas_->id(); }
  friend bool operator==(tbb const&, tbb const&) = default;

  // What keel's engine asks of a space; see detail::Engine.
  [[nodiscard]] int impl_threads() const { return threads(); }
  template <class F>
  void impl_for_chunks(std::int64_t count, F const& f) const {
    arenas_->for_chunks(count, f);
  }
  template <class F>
  void impl_run_together(int count, F const& f) const {
    arenas_->run_together(count, f);
  }
  template <class Closure>
  void impl_launch(Closure const& closure) const {
    arenas_->run_kernel([&] { closure.run(); });
  }

private:
  tbb(std::optional<int> threads, std::vector<int> regions);

  /// oneTBB's number of a region.
  static int region(int number) {
    auto const all = detail::numa_regions_of_tbb();
    if (number < 0 || number >= int(all.size()))
      throw error("space::tbb", "there is no NUMA region " + std::to_string(number),
                  "this process has cores in " + std::to_string(all.size()), "Count from 0");
    return all[std::size_t(number)];
  }
  static std::vector<int> first_regions(std::optional<int> count) {
    std::vector<int> found;
    for (int r = 0; count.value_or(1) != 1 && r < *count; ++r) found.push_back(region(r));
    return found;
  }

  static bool views_are_counted() { return Kokkos::Impl::SharedAllocationRecord<void, void>::tracking_enabled() != 0; }
  /// A handle that counts no references.
  static std::shared_ptr<detail::arenas> not_owned(detail::arenas* all) { return {std::shared_ptr<void>(), all}; }

  /// The process's own, started with Kokkos and ended with it.
  // A function's, so that a program without this device has no trace of it.
  static detail::arenas& own() {
    static detail::arenas all{1};
    return all;
  }

  std::shared_ptr<detail::arenas> arenas_;
};

/// Starts and ends the threads with Kokkos; enrolled by `start`, or by the first instance.
struct tbb::plugin {
  static constexpr std::string_view name = "tbb";
  static constexpr int order = 60;

  /// What the next start takes, if it is set; else the settings that Kokkos was given.
  static settings& wanted() {
    static settings next;
    return next;
  }
  static void initialize(settings const& given) {
    auto chosen = given;
    merge(chosen, std::exchange(wanted(), {}));
    if (chosen.stack_size) detail::thread_limit::set_stack(*chosen.stack_size);
    detail::huge_pages::wanted = chosen.huge_pages.value_or(false);
    own().start(chosen.threads, first_regions(chosen.numa_regions));
  }
  static void finalize() {
    own().stop();
    detail::thread_limit::drop();
    detail::huge_pages::wanted = false;
  }
  static void fence(std::string const& label) { impl_static_fence(label); }
  static void print_configuration(std::ostream& out, bool) {
    out << "keel::space::tbb: " << own().threads() << " threads";
    if (own().is_bound()) out << " on " << own().regions() << " NUMA regions";
    out << " of oneTBB " << detail::version_of_tbb() << '\n';
  }
};

inline tbb::tbb() : arenas_(not_owned(&own())) { detail::enroll<plugin>(); }

inline tbb::tbb(std::optional<int> threads, std::vector<int> regions) {
  static std::atomic<std::uint32_t> last = 1;
  if (threads && *threads < 1)
    throw error("space::tbb", std::to_string(*threads) + " threads cannot run a kernel", {}, "Ask for at least one");
  detail::enroll<plugin>();
  arenas_ = std::make_shared<detail::arenas>(++last);
  arenas_->start(threads, std::move(regions));
}

inline bool tbb::impl_is_initialized() {
  detail::enroll<plugin>();
  return detail::events_of<plugin>.is_running();
}

inline void tbb::print_configuration(std::ostream& out, bool detail) { plugin::print_configuration(out, detail); }

} // namespace keel::space

#include <keel/impl/space/execution_hooks.hpp>

namespace keel::space {

inline void tbb::fence(std::string const& label) const {
  detail::shown_fence<tbb>(impl_instance_id(), label, [this] { arenas_->wait(); });
}
inline void tbb::impl_static_fence(std::string const& label) {
  detail::shown_fence<tbb>(detail::all_instances, label, [] { own().wait(); });
}

} // namespace keel::space

#endif
