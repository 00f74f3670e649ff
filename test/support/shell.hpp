// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Runs a command as a user does, and keeps what it printed and how it ended.

#include <support/folder.hpp>

#include <cstdlib>
#include <string>

#include <sys/wait.h>

namespace keel::test {

struct outcome {
  int code = -1; ///< 128 and the signal that ended it, if one did
  std::string out, err;
};

/// Runs `command` in a shell.
inline outcome shell(std::string const& command) {
  folder const here("keel-shell");
  auto const out = here.path / "out", err = here.path / "err";
  int const status = std::system(("{ " + command + "\n} >" + out.string() + " 2>" + err.string()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out), content(err)};
}

} // namespace keel::test
