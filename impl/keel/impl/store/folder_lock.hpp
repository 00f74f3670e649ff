// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Keeps a second job away from the same files.

#include <keel/policy/macros.hpp>

#include <string>

namespace keel::residency::detail {

/// Holds `PATH.lock`, which stays as an empty file, until its end or that of the process, also of a killed one.
class folder_lock {
public:
  /// Does not wait. Throws `keel::error` if another one holds it, or the file cannot be made. A file system without
  /// locks is used without.
  explicit folder_lock(std::string const& path);
  folder_lock(folder_lock const&) = delete;
  folder_lock& operator=(folder_lock const&) = delete;
  ~folder_lock();

private:
  int file_ = -1;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/folder_lock.ipp>
#endif
