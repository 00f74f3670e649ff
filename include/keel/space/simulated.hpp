// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A device that executes on the host, asynchronously and in launch order, with memory of its own.

#include <keel/space/kokkos.hpp>
#include <keel/space/settings.hpp>
#include <keel/space/simulated_memory.hpp>

#include <keel/impl/space/engine.hpp>
#include <keel/impl/space/guarded_pages.hpp>
#include <keel/impl/space/enroll.hpp>
#include <keel/impl/space/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace keel::space {

/// An execution space that behaves like a GPU on any machine.
///
/// Kernels, scans and copies return at once, unless thousands wait already, and run in the order they were
/// given, on a thread of the instance; a reduction into host memory waits. What
/// forgets a fence or reads host memory in a kernel shows here. One thread does
/// all the work of an instance, in the order of the indices. What a kernel throws, the
/// next fence of the instance throws, and so does a copy or reduction that its caller waits for. What was launched
/// between the two is dropped. An instance is a handle: copies are the same queue.
class simulated {
public:
  using execution_space = simulated;
  using memory_space = simulated_memory;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using array_layout = Kokkos::LayoutRight;
  using size_type = std::size_t;
  using index_type = std::ptrdiff_t;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<simulated>;

  struct plugin;

  /// The default queue.
  simulated();
  /// A queue of its own beside the default one. It costs a thread, kept until Kokkos ends.
  [[nodiscard]] static simulated new_instance();

  [[nodiscard]] static constexpr char const* name() { return "keel::space::simulated"; }
  [[nodiscard]] static int concurrency() { return 1; }

  /// Returns when everything given to this instance is done.
  void fence(std::string const& label = {}) const;
  /// Returns when everything given to any instance is done.
  static void impl_static_fence(std::string const& label = {});
  static void print_configuration(std::ostream& out, bool detail = false);

  /// Whether the calling thread plays the device: then nothing is queued, and nothing waits.
  [[nodiscard]] static bool in_parallel() { return detail::plays_device; }
  /// Whether it may be used: Kokkos runs.
  [[nodiscard]] static bool impl_is_initialized();
  /// The calling thread among those that run the same kernel: one.
  [[nodiscard]] static unsigned impl_hardware_thread_id() { return 0; }
  [[nodiscard]] static unsigned impl_max_hardware_threads() { return 1; }
  /// 1 is the default queue.
  [[nodiscard]] std::uint32_t impl_instance_id() const { return queue_->number(); }
  friend bool operator==(simulated const&, simulated const&) = default;

  // What keel's engine asks of a space; see detail::Engine.
  static constexpr bool impl_is_asynchronous = true;
  [[nodiscard]] static int impl_threads() { return 1; }
  template <class F>
  static void impl_for_chunks(std::int64_t count, F const& f) {
    for (std::int64_t c = 0; c < count; ++c) f(c);
  }
  template <class F>
  static void impl_run_together(int, F const& f) {
    f(0); // the only thread
  }
  template <class Closure>
  void impl_launch(Closure const& closure) const {
    if (detail::plays_device) return closure.run();
    queue_->push([closure] { closure.run(); });
    if (detail::guarded_pages::all().is_on() && !detail::is_recording) queue_->wait();
  }
  /// What this thread gives to the instance from here on is kept, and not run, until `impl_recorded` returns it.
  void impl_record() const { queue_->record(); }
  [[nodiscard]] std::function<void()> impl_recorded() const { return queue_->recorded(); }
  void impl_replay(std::function<void()> const& recorded) const { queue_->push(recorded); }
  /// Asynchronous: both ends must stay as they are until a fence.
  void impl_copy_asynchronously(void* to, void const* from, std::size_t bytes) const {
    detail::copy_bytes(*this, to, from, bytes);
  }
  /// Returns when it is done, after all that the default queue was given before.
  static void impl_copy(void* to, void const* from, std::size_t bytes) {
    simulated const space;
    space.impl_copy_asynchronously(to, from, bytes);
    space.fence("keel::space::simulated: a copy that its caller waits for");
  }

private:
  explicit simulated(detail::queue& own) : queue_(&own) {}

  detail::queue* queue_;
};

/// Starts and ends the device with Kokkos; enrolled by `start`, or by the first instance.
struct simulated::plugin {
  static constexpr std::string_view name = "simulated";
  static constexpr int order = 900;
  static void initialize(settings const&) { detail::queues::all(); } // made here, because the end cannot throw
  static void finalize() { detail::queues::all().stop(); }
  static void fence(std::string const& label) { impl_static_fence(label); }
  static void print_configuration(std::ostream& out, bool) {
    out << "keel::space::simulated: in-order queues on the host, memory poisoned with 0x" << std::hex << poison_word
        << std::dec << '\n';
  }
};

inline simulated::simulated() : queue_(&detail::queues::all().first()) { detail::enroll<plugin>(); }

inline simulated simulated::new_instance() {
  detail::enroll<plugin>();
  return simulated(detail::queues::all().add());
}

inline bool simulated::impl_is_initialized() {
  detail::enroll<plugin>();
  return detail::events_of<plugin>.is_running();
}

inline void simulated::print_configuration(std::ostream& out, bool detail) { plugin::print_configuration(out, detail); }

} // namespace keel::space

#include <keel/impl/space/execution_hooks.hpp>

namespace keel::space {

inline void simulated::fence(std::string const& label) const {
  detail::shown_fence<simulated>(impl_instance_id(), label, [this] { queue_->wait(); });
}
inline void simulated::impl_static_fence(std::string const& label) {
  detail::shown_fence<simulated>(detail::all_instances, label, [] { detail::queues::all().wait(); });
}

} // namespace keel::space
