// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A folder for the files of one test, and the content of a file.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace keel::test {

/// A folder of its own, empty at first, gone at the end of the scope.
struct folder {
  std::filesystem::path path;

  /// `name` is where its name begins.
  explicit folder(std::string const& name = "keel") {
    std::string unique = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
    if (mkdtemp(unique.data()) == nullptr) throw std::runtime_error(unique + " cannot be made");
    path = unique;
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path / name; }
};

/// All bytes of a file; empty where there is none.
inline std::string content(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream{path, std::ios::binary}.rdbuf();
  return text.str();
}

} // namespace keel::test
