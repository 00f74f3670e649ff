// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The options of a program as text, for `--keel-help` and for the help of the program itself.

#include <keel/impl/device/option_names.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <string>
#include <string_view>

namespace keel::device {

/// The options as a text of one line each.
[[nodiscard]] std::string help_text(option_names const& names);

/// What the options of an application are called.
template <class App>
[[nodiscard]] option_names option_names_of() {
  static constexpr auto devices = []<class... Tags>(list<Tags...>) {
    return std::array<std::string_view, sizeof...(Tags)>{Tags::name...};
  }(policy::to_list<typename App::devices>{});
  return {App::prefix, devices, App::uses_ledger};
}

/// What `--help` prints for an application: `help_text<app>()`.
template <class App>
[[nodiscard]] std::string help_text() {
  return help_text(option_names_of<App>());
}

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/help.ipp>
#endif
