// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The folder that the elevation goes to. Files are written by the master rank alone.

#include "options.hpp"
#include "vti.hpp"

#include <keel/impl/store/whole_file.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace ocean {

class output_folder {
public:
  output_folder() = default;
  /// On the master makes the folder where it is missing and tries a file in it and beside `dump`,
  /// so that a run does not find out at its end; elsewhere does nothing. Empty names are not tried.
  output_folder(std::string folder, std::string const& dump, bool master) : folder_(std::move(folder)) {
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

  /// The elevation after `step` steps, whole and in global order. False where that failed.
  [[nodiscard]] bool write(experiment const& e, long step, std::vector<double> const& eta) {
    char name[40];
    std::snprintf(name, sizeof name, "eta-%08ld.vti", step);
    std::filesystem::path const path = std::filesystem::path(folder_) / name;
    physics const& p = e.equations();
    if (!put(path.string(), vti("eta", e.nx(), e.ny(), p.dx, p.dy, double(step) * p.dt, eta))) return false;
    last_ = path.string();
    return true;
  }

  /// The last state as `bytes_of` makes it. False where that failed.
  [[nodiscard]] bool dump(std::string const& path, std::string_view bytes) { return put(path, bytes); }

  /// Path of the file written last; empty where none was.
  [[nodiscard]] std::string const& last() const { return last_; }

private:
  // Whole or not at all.
  bool put(std::string const& path, std::string_view bytes) {
    auto const failure = keel::policy::write_whole_file(path, bytes);
    if (failure) wrong_ = path, why_ = failure.why;
    return !failure;
  }
  // Asks, and makes no file there that a killed program would leave.
  void try_in(std::filesystem::path const& folder) {
    if (access((folder / ".").c_str(), W_OK | X_OK) == 0) return;
    why_ = std::strerror(errno);
    wrong_ = folder.empty() ? "." : folder.string();
  }

  std::string folder_, last_, wrong_, why_;
};

} // namespace ocean
