// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The options of a program as text, for `--keel-help` and for the help of the program itself.

#include <keel/impl/device/table.hpp>
#include <keel/policy/macros.hpp>

#include <string>

namespace keel::device {

/// What the options of an application are called.
template <class App>
[[nodiscard]] option_names option_names_of() {
  return {App::prefix, names_of_devices<typename App::devices>, App::uses_ledger};
}

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
