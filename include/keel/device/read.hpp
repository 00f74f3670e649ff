// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Taking the knobs out of the environment and of the command line, and nothing else.

#include <keel/device/table.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

namespace keel::device {

/// A knob as it was written: not yet parsed, with the words that name its origin.
struct assignment {
  knob id;
  std::string text;
  origin where;
  device::source from;
  std::string_view device = {}; ///< the one that is meant; empty for all that have the knob
};

/// The devices that keel knows, whether this program has them or not.
inline constexpr std::array<std::string_view, 8> known_devices{"serial", "openmp", "threads", "tbb",
                                                               "cuda",   "hip",    "sycl",    "simulated"};

/// What the options of a program are called.
struct option_names {
  std::string_view prefix;
  std::span<std::string_view const> devices = known_devices; ///< the program's own
  bool has_ledger = true;                                    ///< whether the knobs of ledgers are shown

  option_names(std::string_view p) : prefix(p) {}
  option_names(char const* p) : prefix(p) {}
  option_names(std::string_view p, std::span<std::string_view const> d, bool ledger)
      : prefix(p), devices(d), has_ledger(ledger) {}
};

/// `--app-` and `APP_` for the prefix `app`.
[[nodiscard]] inline std::string option_prefix(std::string_view prefix) { return "--" + std::string{prefix} + "-"; }
[[nodiscard]] inline std::string in_capitals(std::string_view text) {
  std::string name;
  for (char c : text) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
  return name;
}
[[nodiscard]] inline std::string variable_prefix(std::string_view prefix) { return in_capitals(prefix) + "_"; }
/// `APP_NUM_THREADS` for `num-threads`.
[[nodiscard]] inline std::string variable_name(std::string_view prefix, std::string_view option) {
  return variable_prefix(prefix) + in_capitals(option);
}

/// A knob as it was named.
struct named_knob {
  knob_facts const* row;
  std::string_view device = {};  ///< the one device that it was named for; empty for all
  std::string_view implied = {}; ///< the value that an old spelling stands for, as a switch; else empty

  [[nodiscard]] bool is_switch() const { return row->is_switch || !implied.empty(); }
  [[nodiscard]] bool takes_value() const { return !row->placeholder.empty() && implied.empty(); }
  /// The knob with its value; empty for an old spelling that is switched off.
  [[nodiscard]] std::optional<assignment> assign(std::string text, origin where, source from) const {
    if (!implied.empty()) {
      if (!parse_flag(where, text)) return std::nullopt;
      text = implied;
    }
    return assignment{row->id, std::move(text), std::move(where), from, device};
  }
};

/// Whether a device is called so, of the program's own or of keel's.
[[nodiscard]] inline bool is_device(std::string_view name, option_names const& names) {
  auto const is_in = [&](auto const& all) { return std::find(all.begin(), all.end(), name) != all.end(); };
  return is_in(names.devices) || is_in(known_devices);
}

/// The knob that `written` names: `num-threads`, or `tbb-num-threads`; in capitals and with underscores where it is a
/// variable's. An old spelling is the knob that it stands for.
[[nodiscard]] inline std::optional<named_knob> find_knob(std::string_view written, option_names const& names,
                                                         bool capitals = false) {
  auto const is = [&](std::string_view text, std::string_view name) {
    return text.size() == name.size() && (capitals ? text == in_capitals(name) : text == name);
  };
  for (auto const& row : all_knobs) {
    if (is(written, row.option)) return named_knob{&row};
    if (!row.of_devices || written.size() < row.option.size() + 2) continue;
    auto const cut = written.size() - row.option.size();
    if (!is(written.substr(cut), row.option) || written[cut - 1] != (capitals ? '_' : '-')) continue;
    for (auto const all : {names.devices, std::span<std::string_view const>{known_devices}})
      for (auto const device : all)
        if (is(written.substr(0, cut - 1), device)) return named_knob{&row, device};
  }
  for (auto const& old : old_spellings)
    if (is(written, old.option))
      return named_knob{&facts(knob::log_level), {}, log_level_words[static_cast<std::size_t>(old.level)]};
  return std::nullopt;
}

/// How messages about the value of a knob begin: with where and how it was written, `KEEL_DEVICE=tbb: `; empty where it
/// was not.
[[nodiscard]] inline std::string last_said(std::span<assignment const> all, knob id) {
  assignment const* last = nullptr;
  for (auto const& a : all)
    if (a.id == id && (last == nullptr || a.from >= last->from)) last = &a;
  return last == nullptr ? std::string{} : last->where + "=" + last->text + ": ";
}

/// What the environment holds for keel.
struct found_variables {
  std::vector<assignment> knobs;
  std::vector<std::string> unknown; ///< names with the prefix that no knob has
};

/// The knobs that stand in the environment, by name, so that its order does not matter; one that is there but empty
/// counts.
[[nodiscard]] inline found_variables read_environment(option_names const& names) {
  found_variables found;
  std::string const ours = variable_prefix(names.prefix);
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const entry = *at;
    if (!entry.starts_with(ours) || entry.find('=') == entry.npos) continue;
    std::string const variable{entry.substr(0, entry.find('='))};
    if (auto const known = find_knob(std::string_view{variable}.substr(ours.size()), names, true)) {
      if (auto one = known->assign(std::string{entry.substr(variable.size() + 1)}, variable, source::environment))
        found.knobs.push_back(std::move(*one));
    } else {
      found.unknown.push_back(variable);
    }
  }
  std::sort(found.knobs.begin(), found.knobs.end(), [](auto const& a, auto const& b) { return a.where < b.where; });
  return found;
}

/// The variable that is meant by `written`, which no knob has: the nearest one, if it is near; else `written` belongs
/// to another program. With keel's own prefix four letters may be wrong, half of them at most; with an application's two.
[[nodiscard]] inline std::string meant_variable(option_names const& names, std::string const& written) {
  std::vector<std::string> known;
  for (auto const& row : all_knobs) {
    known.push_back(variable_name(names.prefix, row.option));
    if (!row.of_devices) continue;
    for (auto const device : names.devices)
      known.push_back(variable_name(names.prefix, std::string{device} + "-" + std::string{row.option}));
  }
  std::string const meant{policy::nearest(written, known)};
  std::size_t const letters = written.size() - std::min(written.size(), names.prefix.size() + 1);
  std::size_t const near = names.prefix == "keel" ? std::min(std::size_t{4}, (letters + 1) / 2) : 2;
  return policy::edit_distance(written, meant) <= near ? meant : std::string{};
}

/// What the command line held for keel and for Kokkos.
struct taken_arguments {
  std::vector<assignment> knobs;        ///< in the order written; the last of a kind is meant to win
  std::vector<std::string> for_kokkos;  ///< every `--kokkos-…`, to be handed to Kokkos when it starts
  std::vector<std::string> for_another; ///< every `--keel-…` that is a knob, where the prefix is another
  std::vector<char*> rest;              ///< the program's own, by the name it was started with

  /// Leaves the rest in argv; `argc` counts it, `argv[argc]` stays null.
  void leave_rest(int& argc, char** argv) const {
    std::copy(rest.begin(), rest.end(), argv);
    if (static_cast<int>(rest.size()) < argc) argv[rest.size()] = nullptr;
    argc = static_cast<int>(rest.size());
  }
};

/// Finds `--<prefix>-x v`, `--<prefix>-x=v` and `--kokkos-…` in argv, which stays as it is. Positionals do not stop
/// the reading; `--` does. An unknown `--<prefix>-…`, or a missing value, is an error.
[[nodiscard]] inline taken_arguments read_arguments(option_names const& names, int argc, char* const* argv) {
  taken_arguments taken;
  std::string const ours = option_prefix(names.prefix);
  int i = 0;
  taken.rest.reserve(static_cast<std::size_t>(argc));
  taken.knobs.reserve(static_cast<std::size_t>(argc));
  if (argc > 0) taken.rest.push_back(argv[i++]);
  for (; i < argc && std::string_view{argv[i]} != "--"; ++i) {
    std::string_view const word = argv[i];
    if (word.starts_with("--kokkos-")) {
      taken.for_kokkos.emplace_back(word);
      continue;
    }
    if (!word.starts_with(ours)) {
      constexpr std::string_view keels = "--keel-";
      if (word.starts_with(keels) && find_knob(word.substr(keels.size(), word.find('=') - keels.size()), names))
        taken.for_another.emplace_back(word.substr(0, word.find('=')));
      taken.rest.push_back(argv[i]);
      continue;
    }
    std::string_view const body = word.substr(ours.size());
    std::string_view const option = body.substr(0, body.find('='));
    bool const has_value = option.size() < body.size();
    origin where{word.substr(0, ours.size() + option.size())};
    auto const known = find_knob(option, names);
    if (!known)
      throw error("device", "unknown option " + where, "no knob has this name",
                  "Did you mean " + ours + std::string{nearest_option(option)});
    auto const take = [&](std::string text) {
      taken.knobs.push_back(*known->assign(std::move(text), std::move(where), source::command_line));
    };
    if (has_value) {
      if (!known->takes_value())
        throw error("device", std::string{word} + " has a value", "this option is a switch", "Write " + where);
      take(std::string{body.substr(option.size() + 1)});
    } else if (known->is_switch()) {
      take("1");
    } else if (i + 1 < argc && std::string_view{argv[i + 1]} != "--") {
      take(argv[++i]);
    } else {
      throw error("device", where + " has no value", i + 1 < argc ? "-- follows it" : "it is the last argument",
                  "Write " + where + "=" + std::string{known->row->placeholder});
    }
  }
  taken.rest.insert(taken.rest.end(), argv + i, argv + argc);
  return taken;
}

} // namespace keel::device
