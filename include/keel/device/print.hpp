// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of a program as text: what each is, and who said so.

#include <keel/impl/device/common_settings.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/macros.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::device {

/// One knob as text. `device` is empty for a knob of the program's own.
struct printed_knob {
  std::string option;   ///< with dashes and prefix
  std::string variable; ///< with prefix
  std::string device;
  std::string value;
  device::source from;
};

/// A row for each knob of each device that has it, then the program's own, in the order of the table of knobs.
[[nodiscard]] std::vector<printed_knob> printed_knobs(option_names const& names, common_settings const& common,
                                                      std::span<device_knobs const> devices,
                                                      std::string_view device_name);

/// Rows of words, the first of which is the head, each on a line of its own with two blanks before and between them;
/// empty without a row below the head.
[[nodiscard]] std::string aligned(std::vector<std::vector<std::string>> const& rows);
[[nodiscard]] std::string table(std::vector<printed_knob> const& rows);

/// Rows as one line of JSON: an object whose `knobs` have the members of `printed_knob`.
[[nodiscard]] std::string json(std::vector<printed_knob> const& rows);

/// The options as a text of one line each.
[[nodiscard]] std::string help_text(option_names const& names);
/// What `--help` prints for an application: `help_text<app>()`.
template <class App>
[[nodiscard]] std::string help_text() {
  return help_text(option_names_of<App>());
}

/// Writes what `--keel-help` and `--keel-print-configuration` ask for.
void print_start(option_names const& names, common_settings const& common, std::span<device_knobs const> devices,
                 std::string_view device_name);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/print.ipp>
#endif
