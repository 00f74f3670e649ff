// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a program is started with: words, variables and files.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace keel::test {

/// argc and argv as main has them, which may be changed.
struct command_line {
  command_line(std::vector<std::string> all) : words(std::move(all)), count(int(words.size())) {
    for (auto& w : words) pointers.push_back(w.data());
    pointers.push_back(nullptr);
  }
  [[nodiscard]] char** data() { return pointers.data(); }
  /// What argv holds now.
  [[nodiscard]] std::vector<std::string> left() const {
    auto const end = std::find(pointers.begin(), pointers.end(), nullptr);
    if (end - pointers.begin() != count) return {"argc is", "another number"};
    return {pointers.begin(), end};
  }

  std::vector<std::string> words;
  std::vector<char*> pointers;
  int count;
};

/// A variable of the environment, for as long as it lives.
struct variable {
  variable(std::string n, std::string const& value) : name(std::move(n)) { setenv(name.c_str(), value.c_str(), 1); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;
  ~variable() { unsetenv(name.c_str()); }
  std::string name;
};

/// A file with a text, for as long as it lives.
struct text_file {
  explicit text_file(std::string_view text) { std::ofstream{path, std::ios::binary} << text; }
  text_file(text_file const&) = delete;
  text_file& operator=(text_file const&) = delete;
  ~text_file() { std::filesystem::remove(path); }
  std::string path = (std::filesystem::temp_directory_path() / ("keel-text-" + std::to_string(getpid()))).string();
};

} // namespace keel::test
