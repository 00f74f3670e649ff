// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/folder_lock.hpp>

#include <keel/policy/error.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace keel::residency::detail {

KEEL_INLINE std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// For the reason that the last call of the system left.
inline error cannot_be_made(std::string const& file) {
  return error("residency", "the file " + file + " cannot be made", std::strerror(errno),
               "Name a folder that is there and can be written", errno);
}

KEEL_INLINE void require_folder_of(std::string const& path) {
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) throw cannot_be_made(path);
}

KEEL_INLINE folder_lock::folder_lock(std::string const& path) {
  std::string const name = path + ".lock";
  file_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw cannot_be_made(name);
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(std::exchange(file_, -1));
  throw error("residency", "another job writes " + path, "it holds " + name, "Wait for its end, or give another name",
              EWOULDBLOCK);
}

KEEL_INLINE folder_lock::~folder_lock() {
  if (file_ >= 0) ::close(file_);
}

} // namespace keel::residency::detail
