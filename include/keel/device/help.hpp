// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The options of a program as text, for `--keel-help` and for the help of the program itself.

#include <keel/device/read.hpp>
#include <keel/policy/list.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace keel::device {

/// The options as a text of one line each.
[[nodiscard]] inline std::string help_text(option_names const& names) {
  std::string text;
  for (auto const& row : all_knobs) {
    if (row.for_ledgers && !names.has_ledger) continue;
    std::string left = "  " + option_prefix(names.prefix) + std::string{row.option};
    left += (row.is_switch ? "" : " ") + std::string{row.placeholder};
    left.resize(std::max(left.size() + 2, std::size_t{34}), ' ');
    text += left + std::string{row.help} + "  [" + variable_name(names.prefix, row.option) + "]\n";
  }
  std::string const ours = option_prefix(names.prefix);
  for (auto const& old : old_spellings)
    text += "  " + ours + std::string{old.option} + ": the same as " + ours + "log-level=" +
            std::string{log_level_words[static_cast<std::size_t>(old.level)]} + "\n";
  return text + "  " + ours + "DEVICE-...                 of the first " +
         std::to_string(std::count_if(all_knobs.begin(), all_knobs.end(), [](auto const& k) { return k.of_devices; })) +
         ": for this device alone, as in " + ours + "tbb-num-threads\n" +
         "  --kokkos-...                    handed to Kokkos when it starts; beats the options above\n";
}

/// What the options of an application are called.
template <class App>
[[nodiscard]] option_names option_names_of() {
  static constexpr auto devices = []<class... Tags>(list<Tags...>) {
    return std::array<std::string_view, sizeof...(Tags)>{Tags::name...};
  }(policy::to_list<typename App::devices>{});
  return {App::prefix, devices, App::uses_ledger};
}

/// The same for an application: `help_text<app>()`.
template <class App>
[[nodiscard]] std::string help_text() {
  return help_text(option_names_of<App>());
}

} // namespace keel::device
