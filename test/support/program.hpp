// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs programs of bench as a user does, and reads what they print.

#include <doctest/doctest.h>

#include <support/shell.hpp>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

namespace program_test {

namespace fs = std::filesystem;
using keel::test::content, keel::test::folder;

struct outcome : keel::test::outcome {
  /// The number behind `name` in the table; fails the case where there is none.
  [[nodiscard]] double figure(std::string const& name) const {
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(name + " ")) return std::strtod(line.c_str() + name.size(), nullptr);
    FAIL("no '" << name << "' in:\n" << out << err);
    return 0;
  }
};

/// PROGRAM_BIN and PROGRAM_LAUNCH come from the build: the folder of the programs, and `mpiexec … -n`
/// or nothing where there is no MPI.
inline constexpr bool has_ranks = std::string_view(PROGRAM_LAUNCH) != "";
/// A host device that Kokkos was built with.
inline constexpr char const host[] = PROGRAM_HOST;

/// Runs `program` with `options` in the folder `where`; `ranks` above 1 only where `has_ranks`.
inline outcome run(std::string const& program, int ranks, std::string const& options, fs::path const& where,
                   std::string const& variables = "") {
  std::string command = "cd '" + where.string() + "' && ";
  if (ranks > 1) command += std::string(PROGRAM_LAUNCH) + " " + std::to_string(ranks) + " ";
  if (!variables.empty()) command += "env " + variables + " ";
  return {keel::test::shell(command + "'" + std::string(PROGRAM_BIN) + "/" + program + "' " + options)};
}

/// Runs a program that has to succeed.
inline outcome run_well(std::string const& program, int ranks, std::string const& options, fs::path const& where) {
  outcome o = run(program, ranks, options, where);
  INFO(program << " " << options << " on " << ranks << " ranks:\n" << o.out << o.err);
  REQUIRE(o.code == 0);
  return o;
}

} // namespace program_test
