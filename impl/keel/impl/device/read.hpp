// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking the knobs out of the environment, of the command line and of a file, and nothing else. Values are not parsed
/// here. A file:
///
///     # a comment, on a line of its own
///     device = cuda,serial
///     num-threads = 4
///
///     [tbb]
///     num-threads = 2
///
/// A line holds a knob, by the name of its option without dashes and prefix, and its value. A section holds those of
/// one device.

#include <keel/impl/device/table.hpp>
#include <keel/policy/macros.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// How messages about the value of a knob begin: with where and how it was written, `KEEL_DEVICE=tbb: `; empty if it
/// was not.
[[nodiscard]] std::string last_said(std::span<assignment const> all, knob_facts const& row);

/// What the environment holds for keel.
struct found_variables {
  std::vector<assignment> knobs;
  std::vector<std::string> unknown; ///< names with the prefix that no knob has
};

/// The knobs that stand in the environment, by name, so that its order does not matter; one that is there but empty
/// counts.
[[nodiscard]] found_variables read_environment(option_names const& names);

/// What the command line held for keel and for Kokkos.
struct taken_arguments {
  std::vector<assignment> knobs;        ///< in the order written; the last of a kind is meant to win
  std::vector<std::string> for_kokkos;  ///< every `--kokkos-…`, to be handed to Kokkos when it starts
  std::vector<std::string> for_another; ///< every `--keel-…` that is a knob, where the prefix is another
  std::vector<char*> rest;              ///< the program's own, by the name it was started with
};

/// Finds `--<prefix>-x v`, `--<prefix>-x=v` and `--kokkos-…` in argv, which stays as it is. Positionals do not stop
/// the reading; `--` does. An unknown `--<prefix>-…`, or a missing value, is an error.
[[nodiscard]] taken_arguments read_arguments(option_names const& names, int argc, char* const* argv);

/// Leaves the rest in argv; `argc` counts it, `argv[argc]` stays null.
void leave_rest(std::span<char* const> rest, int& argc, char** argv);

/// The knobs that the `text` of a file holds; `path` names it in messages. Refuses what is no knob and a knob that is
/// set twice, with the line.
[[nodiscard]] std::vector<assignment> parse_config(option_names const& names, std::string const& path,
                                                   std::string_view text);

/// The knobs of the file that `all` names, the last of them if there are several, else `proposed`; those of `all`
/// stand after them. Without a file `all` as it is.
[[nodiscard]] std::vector<assignment> with_config(option_names const& names, std::string const& proposed,
                                                  std::vector<assignment> all);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/read.ipp>
#endif
