// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A file with a text, for as long as it lives.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace keel::test {

struct text_file {
  explicit text_file(std::string_view text) { std::ofstream{path, std::ios::binary} << text; }
  text_file(text_file const&) = delete;
  text_file& operator=(text_file const&) = delete;
  ~text_file() { std::filesystem::remove(path); }
  std::string path = (std::filesystem::temp_directory_path() / ("keel-text-" + std::to_string(getpid()))).string();
};

} // namespace keel::test
