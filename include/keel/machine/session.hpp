// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The span in which ranks exist.

#include <keel/machine/registry.hpp>
#include <keel/machine/report.hpp>

#include <exception>
#include <string>

namespace keel::machine {

/// Starts MPI unless it runs, and ends it where it started it. Neither copied nor moved.
///
/// Frees the registry's environments first. Where an exception ends it, the other
/// ranks would wait for this one for ever, so the owner aborts the job instead; unless
/// `fails_everywhere()` was said, or there is one rank only.
template <Ranks R>
class session {
public:
  /// Collective over the job where MPI does not run yet. MPI takes its own options out of `argv`.
  session(int& argc, char**& argv, thread_level wanted = thread_level::funneled) : session(&argc, &argv, wanted) {}
  session() : session(nullptr, nullptr, thread_level::funneled) {}
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  ~session() {
    bool const is_unwinding = std::uncaught_exceptions() > exceptions_;
    if (owns_ && is_unwinding && !fails_everywhere_ && R::is_running()) {
      basic_environment<R> const world;
      std::string const& why = error::latest();
      if (world.size() > 1) abort(world, why.empty() ? "keel::machine::session: an exception ends this rank." : why, 1);
    }
    if (--depth_ == 0) environments<R>().clear();
    if (owns_) R::stop();
  }

  /// Whether MPI was started here, and will be ended here.
  [[nodiscard]] bool owns() const noexcept { return owns_; }

  /// What MPI granted, which may be less than was asked for.
  [[nodiscard]] thread_level level() const { return R::level(); }

  /// Every rank is about to throw the same error, so MPI can be ended in order.
  void fails_everywhere() noexcept { fails_everywhere_ = true; }

private:
  session(int* argc, char*** argv, thread_level wanted) : owns_(R::start(argc, argv, wanted)) { ++depth_; }

  static inline int depth_ = 0;
  bool owns_;
  bool fails_everywhere_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

} // namespace keel::machine
