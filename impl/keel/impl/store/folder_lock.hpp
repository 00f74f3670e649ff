// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Whether files can be made in a folder, and keeping a second job away from them.

#include <keel/impl/store/open_file.hpp>
#include <keel/policy/macros.hpp>

#include <string>

namespace keel::residency::detail {

/// That of a file, with a slash at its end, or ".".
[[nodiscard]] std::string folder_of(std::string const& path);
/// Throws if no file can be made beside that path.
void require_folder_of(std::string const& path);

/// Holds `PATH.lock`, which stays as an empty file, until its end or that of the process, also of a killed one.
class folder_lock {
public:
  /// Does not wait. Throws `keel::error` if another one holds it, or the file cannot be made. A file system without
  /// locks is used without.
  explicit folder_lock(std::string const& path);

private:
  policy::open_file file_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/store/folder_lock.ipp>
#endif
