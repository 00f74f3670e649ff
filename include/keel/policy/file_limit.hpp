// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What happens when a file would grow beyond `ulimit -f`. Depends only on POSIX.

#include <cerrno>
#include <csignal>
#include <ctime>

namespace keel::policy {

/// While it lives, a call of this thread that would make a file longer than the process may write is refused with
/// EFBIG; without it, the system ends the process by SIGXFSZ. Keeps `errno`. Costs three calls of the system.
class file_limit_refuses {
public:
  file_limit_refuses() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    is_mine_ = pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0 && sigismember(&before_, SIGXFSZ) == 0;
  }
  file_limit_refuses(file_limit_refuses const&) = delete;
  file_limit_refuses& operator=(file_limit_refuses const&) = delete;
  ~file_limit_refuses() {
    if (!is_mine_) return;
    int const code = errno;
    timespec const no_wait{};
    sigtimedwait(&signal_, nullptr, &no_wait);
    pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
    errno = code;
  }

private:
  sigset_t signal_, before_;
  bool is_mine_;
};

} // namespace keel::policy
