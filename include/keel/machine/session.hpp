// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The span in which ranks exist.

#include <keel/machine/end.hpp>
#include <keel/machine/registry.hpp>
#include <keel/policy/error.hpp>

#include <cstdlib>
#include <exception>

namespace keel::machine {

/// When MPI ends that a session started. It starts once a process, so only `at_exit` lets another session follow.
enum class ending { at_exit, with_session };

/// Starts MPI unless it runs, and ends what it started: when the process exits, or with the session, but not before
/// others that live. Neither copied nor moved.
///
/// Frees the registry's environments first. If an exception ends it, the other
/// ranks would wait for this one for ever, so the owner has the job aborted when the exception is reported; unless
/// `fails_everywhere()` was called, or there is one rank only.
template <Ranks R>
class session {
public:
  /// Collective over the job if MPI does not run yet. MPI takes its own options out of `argv`.
  session(int& argc, char**& argv, thread_level wanted = thread_level::funneled, ending when = ending::at_exit)
      : session(&argc, &argv, wanted, when) {}
  explicit session(ending when = ending::at_exit) : session(nullptr, nullptr, thread_level::funneled, when) {}
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  ~session();

  /// Whether MPI was started by this session, or by one before it, and not by the application.
  [[nodiscard]] bool owns() const noexcept { return owns_; }

  /// What MPI granted, which may be less than was asked for.
  [[nodiscard]] thread_level level() const { return R::level(); }

  /// Every rank is about to throw the same error, so MPI can be ended in order.
  void fails_everywhere() noexcept { fails_everywhere_ = true; }

private:
  session(int* argc, char*** argv, thread_level wanted, ending when);

  static inline int depth_ = 0;
  static inline bool started_here_ = false;
  static inline bool ends_with_last_ = false; ///< MPI, with the last of the sessions that live
  bool owns_;
  bool fails_everywhere_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

// The bodies stand outside the class: those inside would be compiled with every source.
template <Ranks R>
session<R>::~session() {
  bool const is_unwinding = std::uncaught_exceptions() > exceptions_;
  if (owns_ && is_unwinding && !fails_everywhere_ && R::is_running()) {
    basic_environment<R> const world;
    if (world.size() > 1) abort_when_caught(world, error::latest());
  }
  if (--depth_ != 0) return;
  environments<R>().clear();
  if (ends_with_last_) R::stop();
  ends_with_last_ = false;
}
template <Ranks R>
session<R>::session(int* argc, char*** argv, thread_level wanted, ending when) : owns_(R::start(argc, argv, wanted)) {
  if (owns_) {
    started_here_ = true;
    std::atexit([] { // after MPI's start, so before MPI's own
      if (R::is_running()) detail::abort_unreported();
      R::stop(); // does nothing if MPI has ended
    });
  }
  owns_ = started_here_ && depth_ == 0;
  ends_with_last_ = ends_with_last_ || (owns_ && when == ending::with_session);
  ++depth_;
}

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template class session<mpi>;
#endif

} // namespace keel::machine
