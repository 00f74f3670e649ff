// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a program is started with: words and variables.

#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace keel::test {

/// argc and argv as main has them, which may be changed.
struct command_line {
  command_line(std::vector<std::string> all) : words(std::move(all)), count(int(words.size())) {
    for (auto& w : words) pointers.push_back(w.data());
    pointers.push_back(nullptr);
  }
  [[nodiscard]] char** data() { return pointers.data(); }
  /// What argv holds now.
  [[nodiscard]] std::vector<std::string> left() const { return {pointers.begin(), pointers.begin() + count}; }
  [[nodiscard]] bool ends_with_null() const { return pointers[std::size_t(count)] == nullptr; }

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

} // namespace keel::test
