// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A folder for the files of one test, and the content of a file.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace keel::test {

/// A folder of this process, empty at first, gone at the end of the scope.
struct folder {
  std::filesystem::path path;

  explicit folder(std::string const& name)
      : path(std::filesystem::temp_directory_path() / (name + '-' + std::to_string(getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  folder(folder const&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
};

/// All bytes of a file; empty where there is none.
inline std::string content(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

} // namespace keel::test
