// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the options of a program and their variables are called, and the options as text, for `--keel-help` and for the
/// help of the program itself.

#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

/// The names of the devices of a list.
template <class Devices>
inline constexpr auto names_of_devices = []<class... Tags>(list<Tags...>) {
  return std::array<std::string_view, sizeof...(Tags)>{Tags::name...};
}(policy::to_list<Devices>{});
/// Those that keel knows, whether this program has them or not.
inline constexpr std::span<std::string_view const> known_devices = names_of_devices<all_devices>;

/// What the options of a program are called.
struct option_names {
  std::string_view prefix;
  std::span<std::string_view const> devices = known_devices; ///< the program's own
  bool has_ledger = true;                                    ///< whether the knobs of ledgers are shown
};

/// What the options of an application are called.
template <class App>
[[nodiscard]] option_names option_names_of() {
  return {App::prefix, names_of_devices<typename App::devices>, App::uses_ledger};
}

/// `NUM_THREADS` for `num-threads`.
[[nodiscard]] std::string in_capitals(std::string_view text);
/// `--app-` and `APP_` for the prefix `app`.
[[nodiscard]] std::string option_prefix(std::string_view prefix);
[[nodiscard]] std::string variable_prefix(std::string_view prefix);
/// `APP_NUM_THREADS` for `num-threads`.
[[nodiscard]] std::string variable_name(std::string_view prefix, std::string_view option);

/// The options as a text of one line each.
[[nodiscard]] std::string help_text(option_names const& names);
/// What `--help` prints for an application: `help_text<app>()`.
template <class App>
[[nodiscard]] std::string help_text() {
  return help_text(option_names_of<App>());
}

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/help.ipp>
#endif
