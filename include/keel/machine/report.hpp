// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Words to the user: from one rank for the whole job, or the last ones.

#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/printable.hpp>

#include <string_view>

namespace keel::machine {

/// One line on stderr, only from the master, so once a job if every rank calls it. No communication.
template <Ranks R>
void report_once(basic_environment<R> const& env, std::string_view message) {
  if (env.is_master()) policy::print_line(message);
}

namespace detail {
/// One line on stderr, read by the launcher before it gets anything else.
void say_before_abort(std::string_view message, int rank, int size, int code);
} // namespace detail

/// Ends every process of the job, after one line on stderr with rank, host and
/// message, once a launcher has read it. Called by any rank, not collective. With `alone`, and after MPI
/// has ended, the process ends by SIGABRT.
template <CommunicatingRanks R>
[[noreturn]] void abort(basic_environment<R> const& env, std::string_view message, int code) {
  detail::say_before_abort(message, env.rank(), env.size(), code);
  R::abort(env.communicator(), code);
}

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/report.ipp>
#endif
