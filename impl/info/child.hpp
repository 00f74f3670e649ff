// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Work on untrusted input, in a process of its own.

#include <keel/policy/error.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace keel::info {

/// What a child is allowed: seconds of the processor to read its input and for all of its work; `bytes` of memory; and
/// seconds of the clock to wait for its input, 0 for any number, because on a loaded node the clock says little.
struct child_limits {
  unsigned waiting_seconds = 0;
  rlim_t reading_seconds = 4;
  rlim_t seconds = 20;
  rlim_t bytes = rlim_t{2} << 30;
};

/// Whether this is a build with a sanitizer that reserves more memory than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

/// Called by the work when it has read its input: the limit of time for that is off.
inline void input_is_read() noexcept {
  alarm(0);
  rlimit seconds{};
  getrlimit(RLIMIT_CPU, &seconds);
  seconds.rlim_cur = seconds.rlim_max;
  setrlimit(RLIMIT_CPU, &seconds);
}

/// Runs `work` in a child, and answers its exit code. A child that dies is an error that names `what`; this process
/// goes on.
template <class Work>
int in_child(std::string const& what, std::string const& hint, Work const& work, child_limits const& limits = {}) {
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw error("info", what + " is not read", std::strerror(errno), "Try again", errno);
  if (child == 0) {
    rlimit const seconds{std::min(limits.reading_seconds, limits.seconds), limits.seconds};
    rlimit const bytes{limits.bytes, limits.bytes};
    std::signal(SIGXCPU, SIG_DFL);
    std::signal(SIGALRM, SIG_DFL);
    setrlimit(RLIMIT_CPU, &seconds);
    alarm(limits.waiting_seconds);
    if (!is_sanitized) setrlimit(RLIMIT_AS, &bytes);
    int const code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) // the loader of the system, if it lacks memory
    throw error("info", what + " is not read", "the system ended it", hint, 127);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  int const signal = WTERMSIG(status);
  auto const why = signal == SIGALRM
                       ? "that took more than " + std::to_string(limits.waiting_seconds) + " seconds"
                       : (signal == SIGXCPU || signal == SIGKILL ? "it took too much time or memory: "
                                                                 : "hwloc died of it, or of a lack of memory: ") +
                             std::string{strsignal(signal)};
  throw error("info", what + " is not read", why, hint, signal);
}

} // namespace keel::info
