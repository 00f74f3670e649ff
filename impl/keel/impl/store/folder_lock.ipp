// SPDX-License-Identifier: MIT
#pragma once

#include <keel/impl/store/folder_lock.hpp>

#include <keel/policy/error.hpp>

#include <cerrno>
#include <cstring>

#include <sys/file.h>

namespace keel::residency::detail {

KEEL_INLINE std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

inline error cannot_be_made(std::string const& file, int code) {
  return error("residency", "the file " + file + " cannot be made", std::strerror(code),
               "Name a folder that is there and can be written", code);
}

KEEL_INLINE void require_folder_of(std::string const& path) {
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) throw cannot_be_made(path, errno);
}

KEEL_INLINE folder_lock::folder_lock(std::string const& path)
    : file_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_.code != 0) throw cannot_be_made(path + ".lock", file_.code);
  if (::flock(file_.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw error("residency", "another job writes " + path, "it holds " + path + ".lock",
              "Wait for its end, or give another name", EWOULDBLOCK);
}

} // namespace keel::residency::detail
