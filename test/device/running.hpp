// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A program that runs, and what comes of a start.

#include <keel/device/runtime.hpp>

#include <support/said_to_stderr.hpp>
#include "command_line.hpp"

#include <string>
#include <utility>
#include <vector>

namespace keel::test {

/// A program that was started with these words after its name.
template <class App>
struct running {
  explicit running(std::vector<std::string> words = {}, keel::start<App> const& before = {})
      : line(named(std::move(words))), run(line.count, line.data(), before) {}

  static std::vector<std::string> named(std::vector<std::string> words) {
    words.insert(words.begin(), "app");
    return words;
  }
  command_line line;
  keel::runtime<App> run;
};

/// What a start says on standard error, the message of its refusal or nothing, and the words that are left after the
/// program's name.
struct started {
  std::string said, refusal;
  std::vector<std::string> left;

  [[nodiscard]] bool says(std::string const& text) const { return said.find(text) != std::string::npos; }
  [[nodiscard]] bool refuses(std::string const& text) const { return refusal.find(text) != std::string::npos; }
};

/// Starts a program with these words after its name, and calls `look(run)` while it runs.
template <class App>
started start(std::vector<std::string> words, auto const& look) {
  command_line line{running<App>::named(std::move(words))};
  started result;
  result.said = said_to_stderr([&] {
    try {
      keel::runtime<App> run{line.count, line.data()};
      look(run);
    } catch (keel::error const& e) {
      result.refusal = e.what();
    }
  });
  result.left = line.left();
  result.left.erase(result.left.begin());
  return result;
}
template <class App>
started start(std::vector<std::string> words = {}) {
  return start<App>(std::move(words), [](auto const&) {});
}

} // namespace keel::test
