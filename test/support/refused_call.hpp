// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a piece of a test where the system refuses one call, as containers do.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstddef>
#include <thread>

namespace keel::test {

/// Calls `f` in a thread of its own, in which the system call `number` fails with EPERM. False, without a
/// call, where the system takes no such filter.
template <class F>
bool with_refused_call(long number, F const& f) {
  bool filtered = false;
  std::thread([&] {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog const program{4, code};
    filtered = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (filtered) f();
  }).join();
  return filtered;
}

} // namespace keel::test
