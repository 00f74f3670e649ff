// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Limits of time and memory while a node is read, because what describes another machine may be of any size, and hwloc
/// does not always survive a lack of memory.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace keel::info {

/// Whether this is a build with a sanitizer that reserves more memory than any limit allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

/// Until the scope ends, this process may take 4 more seconds of a processor and 2 GiB. Where it takes more, or dies, it
/// ends with a message that names `what`, and exit code 2.
class reading_limits {
public:
  reading_limits(std::string const& what, std::string const& hint) {
    std::snprintf(message_.data(), message_.size(),
                  "keel::info: %.3000s is not read (hwloc died of it, or it takes too much time or memory). %s\n",
                  what.c_str(), hint.c_str());
    for (int const signal : signals) std::signal(signal, end);
    for (auto& l : limits_) {
      getrlimit(l.which, &l.before);
      rlimit const now{std::min(l.before.rlim_max, l.most), l.before.rlim_max};
      setrlimit(l.which, &now);
    }
  }
  reading_limits(reading_limits const&) = delete;
  reading_limits& operator=(reading_limits const&) = delete;
  ~reading_limits() {
    for (auto const& l : limits_) setrlimit(l.which, &l.before);
    for (int const signal : signals) std::signal(signal, SIG_DFL);
  }

private:
  static constexpr int signals[]{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGXCPU};

  struct limit {
    __rlimit_resource which;
    rlim_t most;
    rlimit before;
  };

  static void end(int) {
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, message_.data(), std::strlen(message_.data()));
    _exit(2);
  }

  static inline std::array<char, 4096> message_{};
  std::array<limit, 2> limits_{{{RLIMIT_CPU, rlim_t(std::clock() / CLOCKS_PER_SEC) + 5, {}},
                                {RLIMIT_AS, is_sanitized ? RLIM_INFINITY : rlim_t{2} << 30, {}}}};
};

} // namespace keel::info
