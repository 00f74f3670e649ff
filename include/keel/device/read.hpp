// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking the knobs out of the environment and of the command line, and nothing else.

#include <keel/device/knobs.hpp>
#include <keel/device/parse.hpp>
#include <keel/policy/error.hpp>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// A knob as somebody wrote it: not yet parsed, with the words that name its origin.
struct assignment {
  knob id;
  std::string text;
  origin where;
  device::source from;
};

/// `--app-` and `APP_` for the prefix `app`.
[[nodiscard]] inline std::string option_prefix(std::string_view prefix) { return "--" + std::string{prefix} + "-"; }
[[nodiscard]] inline std::string variable_prefix(std::string_view prefix) {
  std::string name;
  for (char c : prefix) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  return name + "_";
}

/// The knobs that stand in the environment, in the order of the table; one that is there but empty counts.
[[nodiscard]] inline std::vector<assignment> read_environment(std::string_view prefix) {
  std::vector<assignment> found;
  for (auto const& row : all_knobs) {
    std::string const variable = variable_prefix(prefix) + std::string{row.variable};
    if (char const* const text = std::getenv(variable.c_str()))
      found.push_back({row.id, text, variable, source::environment});
  }
  return found;
}

/// What the command line held for keel and for Kokkos.
struct taken_arguments {
  std::vector<assignment> knobs;        ///< in the order written; the last of a kind is meant to win
  std::vector<std::string> for_kokkos;  ///< every `--kokkos-…`, to be handed to Kokkos when it starts
};

/// Takes `--<prefix>-x v`, `--<prefix>-x=v` and `--kokkos-…` out of argv and closes the gaps; `argc` counts
/// what stays, `argv[argc]` stays null. Positionals do not stop the reading; `--` does, and stays.
/// An unknown `--<prefix>-…`, or a missing value, is an error, and then argv is untouched.
[[nodiscard]] inline taken_arguments take_arguments(std::string_view prefix, int& argc, char** argv) {
  taken_arguments taken;
  std::vector<char*> kept;
  std::string const ours = option_prefix(prefix);
  int i = 0;
  if (argc > 0) kept.push_back(argv[i++]);
  for (; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    std::string_view const word = argv[i];
    if (word.starts_with("--kokkos-")) {
      taken.for_kokkos.emplace_back(word);
      continue;
    }
    if (!word.starts_with(ours)) {
      kept.push_back(argv[i]);
      continue;
    }
    std::string_view const body = word.substr(ours.size());
    std::string_view const option = body.substr(0, body.find('='));
    bool const has_value = option.size() < body.size();
    origin const where = ours + std::string{option};
    auto const row = std::find_if(all_knobs.begin(), all_knobs.end(), [&](auto const& k) { return k.option == option; });
    if (row == all_knobs.end())
      throw error("device", "unknown option " + where, "no knob has this name",
                  "Did you mean " + ours + std::string{nearest_option(option)});
    if (row->kind == value_kind::flag) {
      if (has_value) throw error("device", std::string{word} + " has a value", "this option is a switch", "Write " + where);
      taken.knobs.push_back({row->id, "1", where, source::command_line});
    } else if (has_value) {
      taken.knobs.push_back({row->id, std::string{body.substr(option.size() + 1)}, where, source::command_line});
    } else if (i + 1 < argc) {
      taken.knobs.push_back({row->id, argv[++i], where, source::command_line});
    } else {
      throw error("device", where + " has no value", "it is the last argument",
                  "Write " + where + "=" + std::string{row->placeholder});
    }
  }
  for (; i < argc; ++i) kept.push_back(argv[i]);
  std::copy(kept.begin(), kept.end(), argv);
  if (static_cast<int>(kept.size()) < argc) argv[kept.size()] = nullptr;
  argc = static_cast<int>(kept.size());
  return taken;
}

/// The options as a text of one line each, for `--<prefix>-help`.
[[nodiscard]] inline std::string help_text(std::string_view prefix) {
  std::string text;
  for (auto const& row : all_knobs) {
    std::string left = "  " + option_prefix(prefix) + std::string{row.option};
    if (!row.placeholder.empty()) left += " " + std::string{row.placeholder};
    left.resize(std::max(left.size() + 2, std::size_t{34}), ' ');
    text += left + std::string{row.help} + "  [" + variable_prefix(prefix) + std::string{row.variable} + "]\n";
  }
  return text + "  --kokkos-...                    handed to Kokkos when it starts; beats the options above\n";
}

} // namespace keel::device
