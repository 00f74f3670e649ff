// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A file that closes at the end of the scope. Depends only on POSIX.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace keel::policy {

/// 0, or errno's code if a call of the system says that it failed.
[[nodiscard]] inline int code_of(std::int64_t result) noexcept { return result < 0 ? errno : 0; }

/// Calls `call(file, bytes, size, at)` until it has done all, whatever interrupts it. Returns 0 or errno's code, and
/// `if_none` if it does nothing.
int all_of(int file, auto* bytes, std::size_t size, off_t at, int if_none, auto call) noexcept {
  while (size != 0) {
    ssize_t const n = call(file, bytes, size, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? if_none : errno;
    bytes += n;
    at += n;
    size -= std::size_t(n);
  }
  return 0;
}

/// An open file, or errno's code of the call that should have opened it. Calls return 0 or errno's code.
class open_file {
public:
  explicit open_file(int opened) noexcept : number(opened), code(code_of(opened)) {}
  open_file(open_file const&) = delete;
  open_file& operator=(open_file const&) = delete;
  ~open_file() {
    if (number >= 0) ::close(number);
  }
  /// A file of the network says only here that its disk is full.
  [[nodiscard]] int close() noexcept { return code_of(::close(std::exchange(number, -1))); }

  /// All bytes, from `at` on. `call` is the system's, or stands for it.
  [[nodiscard]] int put(void const* bytes, std::size_t size, off_t at, auto call) const {
    return all_of(number, static_cast<std::byte const*>(bytes), size, at, ENOSPC, call);
  }
  [[nodiscard]] int put(void const* bytes, std::size_t size, off_t at) const { return put(bytes, size, at, ::pwrite); }
  /// ENODATA if the file is too short.
  [[nodiscard]] int get(void* bytes, std::size_t size, off_t at) const {
    return all_of(number, static_cast<std::byte*>(bytes), size, at, ENODATA, ::pread);
  }

  int number;
  int const code;
};

} // namespace keel::policy
