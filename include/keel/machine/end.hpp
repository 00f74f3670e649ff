// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Words to the user from one rank for the whole job; and the end of a job whose ranks do not all come to it: one
/// returned early or hangs, or an exception left it.

#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/printable.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace keel::machine {

namespace detail {
/// The exit code of a job that an error ends: what `keel::report` returns, whatever the number of ranks.
inline constexpr int exit_code = 2;

/// Says that the rank before `rank` has not come to the end; the fix follows.
[[nodiscard]] std::string without_the_one_before(int rank, int size, std::chrono::milliseconds waited);
void say_how_to_limit(std::string const& message, std::string const& option);

/// One line on stderr, read by the launcher before it gets anything else.
void say_before_abort(std::string_view message, int rank, int size, int code);
/// `abort_when_caught` on one of `size` ranks; `abort` ends every process of the job.
void abort_when_caught(int rank, int size, bool is_master, std::string fallback, std::chrono::milliseconds patience,
                       void (*abort)());
/// Ends the job if an exception left this rank's part of it and nothing was reported.
void abort_unreported();
} // namespace detail

/// One line on stderr, only from the master, so once a job if every rank calls it. No communication.
template <Ranks R>
void report_once(basic_environment<R> const& env, std::string_view message) {
  if (env.is_master()) policy::print_line(message);
}

/// Ends every process of the job, after one line on stderr with rank, host and
/// message, once a launcher has read it. Called by any rank, not collective. With `alone`, and after MPI
/// has ended, the process ends by SIGABRT.
template <CommunicatingRanks R>
[[noreturn]] void abort(basic_environment<R> const& env, std::string_view message, int code) {
  detail::say_before_abort(message, env.rank(), env.size(), code);
  R::abort(env.communicator(), code);
}

/// The ranks of an environment, which meet once, at their end. Each waits only for the rank before it, so the ranks
/// that find a neighbour missing are few. Made collectively; it has a communicator of its own, unless there is one
/// rank.
template <Ranks R>
class finalize_barrier {
public:
  explicit finalize_barrier(basic_environment<R> const& env) {
    if constexpr (can_wait)
      if (env.size() > 1) ranks_ = basic_environment<R>(env.comm());
  }

  /// Returns when the rank before has called this, too. After `limit` aborts the job with a message that names both
  /// ranks and the knob `option()`. Without one it waits for ever, and prints the same after `patience`. Allocates only
  /// when it prints, because the destructor that calls it may not throw.
  void wait(std::optional<std::chrono::seconds> limit, std::string (*option)(),
            std::chrono::milliseconds patience = std::chrono::seconds{60}) {
    if constexpr (can_wait) {
      if (ranks_.size() < 2 || !R::is_running()) return;
      std::optional<typename R::neighbours> neighbours;
      try {
        neighbours.emplace(ranks_.communicator());
      } catch (std::exception const& e) {
        abort(ranks_, e.what(), detail::exit_code); // the destructor that calls this may not throw
      }
      if (neighbours->came_within(limit ? *limit : patience)) return;
      auto const message = detail::without_the_one_before(ranks_.rank(), ranks_.size(), limit ? *limit : patience);
      if (limit) abort(ranks_, message + "Let every rank come to the end, or change " + option() + ".", 1);
      detail::say_how_to_limit(message, option());
      while (!neighbours->came_within(std::chrono::hours{1})) {
      }
    }
  }

private:
  static constexpr bool can_wait = CommunicatingRanks<R> && requires { typename R::neighbours; };
  basic_environment<R> ranks_{R::null()};
};

#if KEEL_COMPILED && KEEL_WITH_MPI
extern template class finalize_barrier<mpi>;
#endif

/// Ends the job because an exception leaves this rank's part of it, for which the others would wait for ever. What the
/// exception says is known where it is caught: `keel::report` there ends the job with it. If nothing is reported, a
/// thread ends the job with `fallback` after `patience`, or the end of the process does. Called while the stack is
/// unwound; the first call counts.
template <CommunicatingRanks R>
void abort_when_caught(basic_environment<R> const& env, std::string const& fallback,
                       std::chrono::milliseconds patience = std::chrono::seconds{2}) {
  detail::abort_when_caught(env.rank(), env.size(), env.is_master(), fallback, patience,
                            [] { R::abort(R::world(), detail::exit_code); });
}

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/end.ipp>
#endif
