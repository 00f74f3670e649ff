// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The end of a job whose ranks do not all come to it: one returned early or hangs, or an exception left it.

#include <keel/machine/environment.hpp>
#include <keel/machine/report.hpp>
#include <keel/policy/caught.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace keel::machine {

namespace detail {
/// Of a job that an error ends: what `keel::report` answers, whatever the number of ranks.
inline constexpr int exit_code = 2;
} // namespace detail

/// The ranks of an environment, which meet once, at their end. Each waits for the rank before it alone, so the ranks
/// that find a neighbour missing are few. Made collectively; it has a communicator of its own, unless there is one
/// rank.
template <Ranks R>
class last_meeting {
public:
  explicit last_meeting(basic_environment<R> const& env) {
    if constexpr (can_wait)
      if (env.size() > 1) ranks_ = basic_environment<R>(env.comm());
  }

  /// Returns when the rank before has called this, too. After `limit` aborts the job with a message that names both
  /// ranks and the knob `option()`. Without one it waits for ever, and tells the same after `patience`. Allocates only
  /// where it tells, because the destructor that calls it may not throw.
  template <std::invocable F>
  void wait(std::optional<std::chrono::seconds> limit, F const& option,
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
      std::string const before = std::to_string((ranks_.rank() + ranks_.size() - 1) % ranks_.size());
      auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(limit ? *limit : patience).count();
      std::string const message = "keel::runtime: rank " + std::to_string(ranks_.rank()) + " has ended and rank " +
                                  before + " has not, for " + std::to_string(seconds) +
                                  " s (one returned early, or the other hangs). ";
      if (limit) abort(ranks_, message + "Let every rank come to the end, or change " + option() + "?", 1);
      std::fprintf(stderr, "%s%s=N ends the job after N seconds.\n", message.c_str(), option().c_str());
      while (!neighbours->came_within(std::chrono::hours{1})) {}
    }
  }

private:
  static constexpr bool can_wait = CommunicatingRanks<R> && requires { typename R::neighbours; };
  basic_environment<R> ranks_{R::null()};
};

/// Ends the job because an exception leaves this rank's part of it, for which the others would wait for ever. What the
/// exception says is known where it is caught: `keel::report` there ends the job with it. Where nothing is reported, a
/// thread ends the job with `fallback` after `patience`, or the end of the process does. Called while the stack is
/// unwound; the first call counts.
template <CommunicatingRanks R>
void abort_when_caught(basic_environment<R> const& env, std::string fallback,
                       std::chrono::milliseconds patience = std::chrono::seconds{2}) {
  static int rank, size;
  static bool is_master;
  static std::string& otherwise = *new std::string; // needed until the process has ended
  static std::atomic_flag is_ending;
  auto const end = [](char const* what) {
    if (is_ending.test_and_set()) std::this_thread::sleep_for(std::chrono::seconds{10}); // another thread ends it
    // Where all ranks found the same mistake the master says it, and ends them; else it does not come to that.
    if (!is_master) std::this_thread::sleep_for(std::chrono::seconds{2});
    detail::say_before_abort(what != nullptr ? what : otherwise, rank, size, detail::exit_code);
    R::abort(R::world(), detail::exit_code);
  };
  if (policy::when_caught() != nullptr) return;
  rank = env.rank(), size = env.size(), is_master = env.is_master();
  otherwise = fallback.empty() ? "an exception leaves the scope of the runtime" : std::move(fallback);
  policy::when_caught() = end;
  try {
    std::thread([end, patience] {
      std::this_thread::sleep_for(patience);
      end(nullptr);
    }).detach();
  } catch (std::exception const&) {
    end(nullptr);
  }
}

} // namespace keel::machine
