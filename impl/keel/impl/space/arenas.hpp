// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The threads of one instance of `keel::space::tbb`: an arena of oneTBB, or one on each of several NUMA regions.
///
/// oneTBB itself is included where the bodies are, because its headers cost the compiler half as much as Kokkos.

#include <keel/impl/space/part.hpp>
#include <keel/impl/space/turns.hpp>
#include <keel/policy/forks.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace keel::space::detail {

/// oneTBB runs no more threads than cores, whatever an arena asks for, unless its limit is raised; it is kept
/// as high as the widest instance wanted it, until Kokkos ends.
struct thread_limit {
  static void raise(int threads);
  /// Bytes of the stack of every thread that oneTBB starts from now on; those that run keep theirs.
  static void set_stack(std::int64_t bytes);
  static void drop();
};

/// oneTBB's numbers of the NUMA regions that this process has cores in.
std::vector<int> numa_regions_of_tbb();
/// `"2021.8"`
std::string version_of_tbb();

/// Threads, cut over the NUMA regions they are bound to. Regions are oneTBB's, which finds them by hwloc. In a process
/// forked from one that uses oneTBB, which has no threads of its parent's, kernels throw.
class arenas {
public:
  explicit arenas(std::uint32_t id);
  arenas(arenas const&) = delete;
  arenas& operator=(arenas const&) = delete;
  ~arenas();

  /// `wanted` threads altogether, by default as many as there are cores; on `regions`, or, if there are
  /// none, wherever the system puts them. Not while a kernel runs.
  void start(std::optional<int> wanted, std::vector<int> regions = {});
  void stop();

  /// Threads that run a kernel, the calling one included; 0 before the start.
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int regions() const { return regions_; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] bool is_bound() const { return bound_; }

  /// Runs a kernel, `f()`, when those that other host threads launched before are done.
  template <class F>
  void run_kernel(F const& f) {
    refuse_child();
    turns_.take(f);
  }
  /// The number of the calling thread among those of the instance whose kernel it works on; 0 outside of kernels.
  [[nodiscard]] static int thread_number();
  /// Returns when the kernel that another host thread launched has ended; at once within a kernel.
  void wait() {
    if (!policy::is_forked_since(forks_)) turns_.wait();
  }

  /// Within a kernel: calls f(0) … f(count - 1) and returns when all are done. Every region, and in it every thread,
  /// tends to get the same ones each time, as first touch wants it; if there are more than threads, a free thread
  /// takes the next.
  template <class F>
  void for_chunks(std::int64_t count, F const& f) {
    if (count == 1 && !bound_) return f(std::int64_t{0});
    run_chunks(count, numbered_call(f));
  }

  /// Within a kernel: calls f(0) … f(count - 1) at the same time on threads of their own, which are bound nowhere.
  /// `f` must not throw.
  template <class F>
  void run_together(int count, F const& f) {
    run_numbered(count, numbered_call(f));
  }

private:
  struct threads_of_tbb;

  void refuse_child() const {
    if (policy::is_forked_since(forks_)) throw_in_child();
  }
  [[noreturn]] static void throw_in_child();
  void run_chunks(std::int64_t count, numbered_call const& f);
  void run_numbered(int count, numbered_call const& f);

  std::uint32_t id_;
  unsigned forks_; ///< where oneTBB was first used
  int threads_ = 0;
  int regions_ = 1;
  bool bound_ = false;
  turns turns_;
  std::unique_ptr<threads_of_tbb> own_;
};

} // namespace keel::space::detail

#if !KEEL_COMPILED
#include <keel/impl/space/arenas.ipp>
#endif
