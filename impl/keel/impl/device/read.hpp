// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking the knobs out of the environment and of the command line, and nothing else.

#include <keel/device/knobs.hpp>
#include <keel/impl/device/option_names.hpp>
#include <keel/impl/device/parse.hpp>
#include <keel/policy/macros.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// How messages about the value of a knob begin: with where and how it was written, `KEEL_DEVICE=tbb: `; empty if it
/// was not.
[[nodiscard]] std::string last_said(std::span<assignment const> all, knob id);

/// What the environment holds for keel.
struct found_variables {
  std::vector<assignment> knobs;
  std::vector<std::string> unknown; ///< names with the prefix that no knob has
};

/// The knobs that stand in the environment, by name, so that its order does not matter; one that is there but empty
/// counts.
[[nodiscard]] found_variables read_environment(option_names const& names);

/// The variable that is meant by `written`, which no knob has: the nearest one, if it is near; else `written` belongs
/// to another program. With keel's own prefix four letters may be wrong, half of them at most; with an application's
/// two.
[[nodiscard]] std::string meant_variable(option_names const& names, std::string const& written);

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

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/read.ipp>
#endif
