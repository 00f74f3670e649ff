// SPDX-License-Identifier: MIT
#include <keel/machine/end.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/caught.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include <sys/ioctl.h>
#include <sys/stat.h>

namespace keel::machine::detail {

KEEL_INLINE std::string without_the_one_before(int rank, int size, std::chrono::milliseconds waited) {
  auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  return "keel::runtime: rank " + std::to_string(rank) + " has ended and rank " +
         std::to_string((rank + size - 1) % size) + " has not, for " + std::to_string(seconds) +
         " s (one returned early, or the other hangs). ";
}
KEEL_INLINE void say_how_to_limit(std::string const& message, std::string const& option) {
  policy::print_line({message, option, "=N ends the job after N seconds."});
}

KEEL_INLINE void abort_when_caught(int own_rank, int ranks, bool masters, std::string fallback,
                                   std::chrono::milliseconds patience, void (*abort)()) {
  static int rank, size;
  static bool is_master;
  static void (*end_job)();
  static std::string& otherwise = *new std::string; // needed until the process has ended
  static std::atomic_flag is_ending;
  auto const end = [](char const* what) {
    if (is_ending.test_and_set()) std::this_thread::sleep_for(std::chrono::seconds{10}); // another thread ends it
    // If all ranks found the same mistake, the master prints it and ends them; else it does not get here.
    if (!is_master) std::this_thread::sleep_for(std::chrono::seconds{2});
    say_before_abort(what != nullptr ? what : otherwise, rank, size, exit_code);
    end_job();
  };
  if (policy::when_caught() != nullptr) return;
  rank = own_rank, size = ranks, is_master = masters, end_job = abort;
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

KEEL_INLINE void abort_unreported() {
  if (auto const end = policy::when_caught().load(); end != nullptr) end(nullptr);
}

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
