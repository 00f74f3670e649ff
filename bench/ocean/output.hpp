// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The folder that files go to, and the dump, which the master rank writes.

#include "options.hpp"

#include <keel/impl/store/whole_file.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace ocean {

class output_folder {
public:
  output_folder() = default;
  /// On the master makes the folder where it is missing and tries a file in it and beside `dump`,
  /// so that a run does not find out at its end; elsewhere does nothing. Empty names are not tried.
  output_folder(std::string folder, std::string const& dump, bool master)
      : folder_(std::move(folder)), home_(std::filesystem::current_path()) {
    if (!master) return;
    if (!folder_.empty()) {
      std::error_code failed;
      std::filesystem::create_directories(folder_, failed);
      if (failed) wrong_ = folder_, why_ = failed.message();
      else try_in(folder_);
    }
    if (!dump.empty() && usable()) try_in(std::filesystem::path(dump).parent_path());
  }

  [[nodiscard]] bool usable() const { return wrong_.empty(); }
  [[nodiscard]] bench::refusal refusal() const {
    return {"ocean", wrong_ + " cannot be written", why_, "Name a folder that can"};
  }

  /// Makes the folder the current one of this process, unless it is empty: files have names there.
  void enter() const {
    if (!folder_.empty()) std::filesystem::current_path(folder_);
  }

  /// The last state as `bytes_of` makes it, whole or not at all. False where that failed.
  [[nodiscard]] bool dump(std::string const& path, std::string_view bytes) {
    auto const failure = keel::policy::write_whole_file((home_ / path).string(), bytes);
    if (failure) wrong_ = path, why_ = failure.why;
    return !failure;
  }

private:
  // Asks, and makes no file there that a killed program would leave.
  void try_in(std::filesystem::path const& folder) {
    if (access((folder / ".").c_str(), W_OK | X_OK) == 0) return;
    why_ = std::strerror(errno);
    wrong_ = folder.empty() ? "." : folder.string();
  }

  std::string folder_, wrong_, why_;
  std::filesystem::path home_;
};

} // namespace ocean
