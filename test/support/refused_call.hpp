// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a piece of a test where the system refuses one call, as containers do, or some values of one argument of it.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <thread>

namespace keel::test {

/// Calls `f` in a thread of its own, whose system calls `filter` judges. False, without a call, where the system takes
/// no such filter.
template <std::size_t N, class F>
bool with_filter(sock_filter (&filter)[N], F const& f) {
  bool filtered = false;
  std::thread([&] {
    sock_fprog const program{N, filter};
    filtered = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (filtered) f();
  }).join();
  return filtered;
}

/// Calls `f` so that the system call `number` fails with EPERM.
template <class F>
bool with_refused_call(long number, F const& f) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return with_filter(filter, f);
}

/// Calls `f` so that the system call `number` fails with `code` if the low half of its argument `n` is from `first` to
/// `end`, without it.
template <class F>
bool with_refused_argument(long number, unsigned n, unsigned first, unsigned end, int code, F const& f) {
  auto const at = unsigned(offsetof(seccomp_data, args) + n * sizeof(seccomp_data::args[0]));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(number), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, end, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | unsigned(code)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return with_filter(filter, f);
}

} // namespace keel::test
