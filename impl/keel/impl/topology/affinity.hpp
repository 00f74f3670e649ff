// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Linux's affinity of threads, as sets of ids; and the names in folders that Linux makes.

#include <keel/policy/error.hpp>
#include <keel/topology/id_set.hpp>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace keel::topology::detail {

/// The system's mask under a name of ours: nvcc 13 dies of a vector of a type that has none.
struct mask_part {
  cpu_set_t bits{};
};
inline cpu_set_t* bits_of(std::vector<mask_part>& mask) noexcept { return &mask.front().bits; }

inline int this_thread() noexcept { return int(syscall(SYS_gettid)); }

/// The system's numbers of the hardware threads that a thread may run on; 0 is the calling one.
/// Empty for one that has ended.
inline id_set affinity_of(int thread) {
  for (std::size_t bytes = sizeof(cpu_set_t);; bytes *= 2) { // the kernel's mask may be longer than the C library's
    std::vector<mask_part> mask(bytes / sizeof(mask_part));
    id_set threads;
    if (sched_getaffinity(thread, bytes, bits_of(mask)) == 0) {
      for (std::size_t t = 0; t < bytes * 8; ++t)
        if (CPU_ISSET_S(t, bytes, bits_of(mask))) threads.insert(int(t));
      return threads;
    }
    if (errno == ESRCH) return threads;
    if (errno != EINVAL || bytes > (std::size_t{1} << 20))
      throw error("topology", "the hardware threads of this process are unknown",
                  std::generic_category().message(errno), {}, errno);
  }
}

/// 0, or errno's code.
inline int set_affinity(int thread, id_set const& threads) {
  std::size_t bytes = sizeof(cpu_set_t);
  for (int const t : threads)
    while (std::size_t(t) >= bytes * 8) bytes *= 2;
  std::vector<mask_part> mask(bytes / sizeof(mask_part));
  for (int const t : threads) CPU_SET_S(std::size_t(t), bytes, bits_of(mask));
  return sched_setaffinity(thread, bytes, bits_of(mask)) == 0 ? 0 : errno;
}

/// Calls `f` with each name in a folder; not at all if it cannot be read. The standard library's iterator ends the
/// program if memory runs out; this throws `std::bad_alloc`.
inline void for_each_name(std::string const& folder, auto const& f) {
  struct closer {
    void operator()(DIR* d) const noexcept { closedir(d); }
  };
  errno = 0;
  std::unique_ptr<DIR, closer> const opened{opendir(folder.c_str())};
  if (!opened && errno == ENOMEM) throw std::bad_alloc{};
  if (!opened) return;
  while (dirent const* const entry = readdir(opened.get())) f(std::string_view{entry->d_name});
}

/// The system's numbers of the threads of this process; the calling one if the system does not list them.
inline std::vector<int> threads_of_process() {
  std::vector<int> found;
  for_each_name("/proc/self/task", [&](std::string_view name) {
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc{}) found.push_back(thread);
  });
  if (found.empty()) found.push_back(this_thread());
  return found;
}

} // namespace keel::topology::detail
