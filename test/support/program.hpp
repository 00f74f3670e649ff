// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs programs of bench as a user does, and reads what they print.

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace program_test {

namespace fs = std::filesystem;

inline std::string read_file(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of its own, gone at the end of the scope.
class folder {
public:
  folder() {
    std::string name = (fs::temp_directory_path() / "keel-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path operator/(std::string_view name) const { return path_ / name; }
  [[nodiscard]] fs::path const& path() const { return path_; }
  [[nodiscard]] bool is_empty() const { return fs::is_empty(path_); }

private:
  fs::path path_;
};

struct outcome {
  int code = -1;
  std::string out, err;

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

/// Runs `program` with `options` in the folder `where`; `ranks` above 1 only where `has_ranks`.
inline outcome run(std::string const& program, int ranks, std::string const& options, fs::path const& where,
                   std::string const& variables = "") {
  folder const streams;
  std::string command = "cd '" + where.string() + "' && ";
  if (ranks > 1) command += std::string(PROGRAM_LAUNCH) + " " + std::to_string(ranks) + " ";
  if (!variables.empty()) command += "env " + variables + " ";
  command += "'" + std::string(PROGRAM_BIN) + "/" + program + "' " + options + " >'" + (streams / "out").string() +
             "' 2>'" + (streams / "err").string() + "'";
  int const status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(streams / "out"), read_file(streams / "err")};
}

/// The same, for runs that have to succeed.
inline outcome run_well(std::string const& program, int ranks, std::string const& options, fs::path const& where) {
  outcome o = run(program, ranks, options, where);
  INFO(program << " " << options << " on " << ranks << " ranks:\n" << o.out << o.err);
  REQUIRE(o.code == 0);
  return o;
}

} // namespace program_test
