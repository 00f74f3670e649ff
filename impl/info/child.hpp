// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Work on input that nobody trusts, in a process of its own.

#include <keel/policy/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace keel::info {

/// Runs `work` in a child, limited to 20 seconds and 2 GiB, and answers its exit code. A child that
/// dies is an error that names `what`; this process goes on.
template <class Work>
int in_child(std::string const& what, Work const& work) {
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw error("info", what + " is not read", std::strerror(errno), "Try again", errno);
  if (child == 0) {
    rlimit const seconds{20, 20}, bytes{rlim_t{2} << 30, rlim_t{2} << 30};
    setrlimit(RLIMIT_CPU, &seconds);
#if !defined(__SANITIZE_ADDRESS__)
    setrlimit(RLIMIT_AS, &bytes);
#else
    static_cast<void>(bytes); // its shadow memory is larger than that
#endif
    int const code = work();
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  throw error("info", what + " is not read", "hwloc died of it: " + std::string{strsignal(WTERMSIG(status))},
              "Make one with lstopo", WTERMSIG(status));
}

} // namespace keel::info
