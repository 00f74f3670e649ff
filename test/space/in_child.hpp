// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a piece of a test in a process of its own: Kokkos starts once in a process, and an abort ends one.

#include <support/test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <concepts>
#include <csignal>
#include <thread>

namespace keel::test {

/// 0 if all is well.
inline int exit_status(std::same_as<bool> auto good) { return good ? 0 : 1; }
inline int exit_status(int status) { return status; }

/// How a child ended, and what it wrote to its standard error.
struct ended_child {
  bool aborted;
  int status;
  std::string said;
};

/// Calls `f` in a child, which returns a status, or whether all is well. The parent must not have started threads.
template <class F>
ended_child in_child(F const& f) {
  int ends[2];
  if (pipe(ends) != 0) return {false, -1, "no pipe"};
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::signal(SIGABRT, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    int const status = exit_status(f());
    std::fflush(nullptr);
    _exit(status);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFSIGNALED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), said};
}

/// Checks that all is well after `f` in a child.
template <class F>
void check_child(F const& f) {
  auto const child = in_child(f);
  CHECK_MESSAGE(child.status == 0, child.said);
}

/// The exit code of a fork that calls `f` and then exits in order; 124 where it hangs for ten seconds.
template <class F>
int in_fork(F const& f) {
  pid_t const child = fork();
  if (child == 0) std::exit(exit_status(f()));
  for (int waited = 0; waited < 1000; ++waited) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 124;
}

} // namespace keel::test
