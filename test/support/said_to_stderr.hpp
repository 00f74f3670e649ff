// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a call writes to standard error.

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include <unistd.h>

namespace keel::test {

/// Runs `f()`, and returns what came to file descriptor 2 meanwhile, whoever wrote it.
std::string said_to_stderr(auto const& f) {
  struct closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, closer> const file(std::tmpfile());
  struct redirection {
    explicit redirection(int to) : kept(dup(2)) { std::fflush(stderr), dup2(to, 2); }
    ~redirection() { std::fflush(stderr), dup2(kept, 2), close(kept); }
    int kept;
  };
  {
    redirection const there(fileno(file.get()));
    f();
  }
  std::rewind(file.get());
  std::string text;
  char piece[256];
  while (std::size_t const n = std::fread(piece, 1, sizeof piece, file.get())) text.append(piece, n);
  return text;
}

} // namespace keel::test
