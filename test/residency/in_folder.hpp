// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A folder for the files of so many ranks: tests run beside each other.

#include <keel/machine/collectives.hpp>

#include <filesystem>
#include <string>

namespace test {

struct in_folder {
  explicit in_folder(auto const& env) {
    std::string const name = "files-of-" + std::to_string(env.size());
    if (env.rank() == 0) std::filesystem::create_directory(name);
    keel::machine::barrier(env);
    std::filesystem::current_path(name);
  }
  ~in_folder() { std::filesystem::current_path(".."); }
  in_folder(in_folder const&) = delete;
  in_folder& operator=(in_folder const&) = delete;
};

} // namespace test
