// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs keel-info, and keeps what it said.

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace test {

struct said {
  int code;
  std::string out, err;
};

/// Runs keel-info through the shell; `before` are variables. hwloc keeps to itself what it misses here.
inline said info(std::string const& arguments, std::string const& before = {}) {
  auto const folder = std::filesystem::temp_directory_path() / ("keel-info-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  auto const err = folder / "err";
  FILE* const pipe =
      popen(("HWLOC_HIDE_ERRORS=2 " + before + ' ' + KEEL_INFO + ' ' + arguments + " 2>" + err.string()).c_str(), "r");
  REQUIRE(pipe != nullptr);
  said heard{0, {}, {}};
  std::array<char, 4096> block;
  while (auto const n = std::fread(block.data(), 1, block.size(), pipe)) heard.out.append(block.data(), n);
  int const status = pclose(pipe);
  heard.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ostringstream text;
  text << std::ifstream{err}.rdbuf();
  heard.err = text.str();
  std::filesystem::remove_all(folder);
  return heard;
}

} // namespace test
