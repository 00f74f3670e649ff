// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Writing a file whole or not at all, and whether standard output has what was printed. Depends only on POSIX.

#include <keel/impl/store/open_file.hpp>
#include <keel/policy/file_limit.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/stat.h>

namespace keel::policy {

/// Why a file was not written. False if it was.
struct write_failure {
  int code = 0; ///< of errno
  std::string why;
  explicit operator bool() const noexcept { return !why.empty(); }
};

namespace detail {

inline write_failure failed(int code) { return code == 0 ? write_failure{} : write_failure{code, std::strerror(code)}; }

/// All bytes, or errno's code.
inline int put(int file, std::string_view bytes) noexcept {
  file_limit_refuses const longer;
  auto const write = [](int f, char const* from, std::size_t size, off_t) { return ::write(f, from, size); };
  return all_of(file, bytes.data(), bytes.size(), 0, ENOSPC, write);
}

/// Where a path leads. A link may lead to a file that is not there yet.
inline std::string through_links(std::filesystem::path path) {
  std::error_code failed;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, failed); ++links) // as many as Linux follows
    path = path.parent_path() / std::filesystem::read_symlink(path, failed);
  return path;
}

inline bool is_same(struct stat const& a, struct stat const& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Into a pipe or a device, which stays what it is.
inline write_failure write_directly(std::string const& path, std::string_view bytes, mode_t kind) {
  if (S_ISBLK(kind)) return {EINVAL, "it is a disk"};
  open_file file{::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)};
  if (file.code != 0) return failed(file.code);
  int const code = put(file.number, bytes);
  return failed(code != 0 ? code : file.close());
}

/// A file beside `target`, and its name; those that killed processes left may be taken.
inline int open_part(std::string const& target, std::string& name) {
  int file = -1;
  for (int n = 0; n < 1000 && file < 0 && (n == 0 || errno == EEXIST); ++n) {
    name = target + '.' + std::to_string(::getpid()) + '.' + std::to_string(n) + ".part";
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  }
  return file;
}

/// Beside `target`, then in its place. `old` is null if no file is there.
inline write_failure replace(std::string const& target, std::string_view bytes, struct stat const* old) {
  std::string name;
  open_file file{open_part(target, name)};
  if (file.code != 0) return failed(file.code);
  int code = put(file.number, bytes);
  if (old != nullptr) {
    [[maybe_unused]] int const kept = ::fchown(file.number, old->st_uid, old->st_gid); // only root may give files away
    ::fchmod(file.number, old->st_mode & 07777);
  }
  if (code == 0 && ::fsync(file.number) != 0 && errno != EINVAL) code = errno;
  if (int const at_end = file.close(); code == 0) code = at_end;
  if (code == 0 && ::rename(name.c_str(), target.c_str()) != 0) code = errno;
  if (code != 0) ::unlink(name.c_str());
  return failed(code);
}

} // namespace detail

/// Writes `bytes` to `path`. On failure a plain file that was there stays as it was, and no part remains, unless the
/// process is killed.
///
/// A plain file is written beside, flushed to the disk, and renamed; it keeps its permissions, and other hard links
/// keep the old content. Links are followed. A pipe, a terminal or another device is written to directly; so is the
/// file that standard output or standard error goes to. Refuses a plain file that is one of `inputs`, one without the
/// permission to write, a folder and a disk.
[[nodiscard]] inline write_failure write_whole_file(std::string const& path, std::string_view bytes,
                                                    std::span<std::string const> inputs = {}) {
  struct stat old{}, other{};
  bool const exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return detail::failed(errno);
  if (exists && S_ISDIR(old.st_mode)) return detail::failed(EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return detail::write_directly(path, bytes, old.st_mode);
  for (std::string const& input : inputs)
    if (exists && ::stat(input.c_str(), &other) == 0 && detail::is_same(old, other))
      return {EINVAL, "it is the input " + input};
  std::fflush(stdout);
  for (int const standard : {STDOUT_FILENO, STDERR_FILENO})
    if (exists && ::fstat(standard, &other) == 0 && detail::is_same(old, other))
      return detail::failed(detail::put(standard, bytes));
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) return detail::failed(errno);
  return detail::replace(detail::through_links(path), bytes, exists ? &old : nullptr);
}

/// Why standard output does not have all that was printed, also before the last flush.
[[nodiscard]] inline write_failure flush_standard_output() {
  if (std::fflush(stdout) != 0) return detail::failed(errno);
  return std::ferror(stdout) != 0 ? write_failure{EIO, "an earlier part of it is lost"} : write_failure{};
}

} // namespace keel::policy
