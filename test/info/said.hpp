// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs keel-info, and keeps what it said.

#include <support/folder.hpp>
#include <support/shell.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace test {

using said = keel::test::outcome;

/// Runs keel-info through the shell; `before` are variables. hwloc keeps to itself what it misses here.
inline said info(std::string const& arguments, std::string const& before = {}) {
  return keel::test::shell("HWLOC_HIDE_ERRORS=2 " + before + ' ' + KEEL_INFO + ' ' + arguments);
}

/// The first line of a trace, with `more` members.
inline std::string header(int rank, int ranks, std::string const& more = {},
                          std::string const& run = "00000000000000aa", int part = 1) {
  return R"({"keel":"trace","version":4,"run":")" + run + R"(","part":)" + std::to_string(part) + R"(,"rank":)" +
         std::to_string(rank) + R"(,"ranks":)" + std::to_string(ranks) + R"(,"begin":)" +
         std::to_string(1763724151000000 + 500 * rank) + (more.empty() ? "" : ',' + more) + '}';
}

/// A folder of traces.
struct traces : keel::test::folder {
  using folder::folder;
  /// As a run that was killed left it.
  [[nodiscard]] std::string cut(char const* name, std::vector<std::string> const& lines) const {
    std::ofstream out(path / name);
    for (auto const& line : lines) out << line << '\n';
    return path / name;
  }
  /// With a last line.
  [[nodiscard]] std::string file(char const* name, std::vector<std::string> lines) const {
    if (auto const at = lines[0].find("\"rank\":"); at != std::string::npos)
      lines.push_back(R"({"what":"end","time":9,"rank":)" + std::to_string(std::atoi(lines[0].c_str() + at + 7)) + '}');
    return cut(name, lines);
  }
};

} // namespace test
