// SPDX-License-Identifier: MIT
#include <keel/machine/report.hpp>
#include <keel/machine/host.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <sys/ioctl.h>
#include <sys/stat.h>

namespace keel::machine::detail {

/// Returns when what was written on stderr has been read by the other end of its pipe, after one second at most.
///
/// A launcher that gets the order to end the job over another channel kills its processes at once, and
/// drops what still lies in their pipes (seen with MPICH 5).
inline void await_reader_of_stderr() noexcept {
  using namespace std::chrono_literals;
  std::fflush(stderr);
  int const fd = fileno(stderr);
  struct stat about{};
  if (fstat(fd, &about) != 0 || !S_ISFIFO(about.st_mode)) return;
  int unread = 0;
  auto const end = std::chrono::steady_clock::now() + 1s;
  while (ioctl(fd, FIONREAD, &unread) == 0 && unread > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(1ms);
}

KEEL_INLINE void say_before_abort(std::string_view message, int rank, int size, int code) {
  policy::print_line({message, " [rank ", std::to_string(rank), " of ", std::to_string(size), " on host ", host_name(),
                      " aborts the job with code ", std::to_string(code), "]"});
  await_reader_of_stderr();
}

} // namespace keel::machine::detail
