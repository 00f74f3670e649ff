// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The table of knobs: one row says all that there is to say of a knob, whatever the devices of the program are. Those
/// of devices are made of `knobs_of_devices`.

#include <keel/device/knobs.hpp>
#include <keel/impl/device/parse.hpp>
#include <keel/device/values.hpp>
#include <keel/policy/macros.hpp>
#include <keel/space/settings.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keel::device {

/// What becomes of the text of a device's knob, each device with a value of its own.
struct device_value {
  std::int64_t (*parse)(origin const& where, std::string_view text); ///< throws `keel::error`
  std::string (*show)(std::int64_t value);
  void (*tell)(space::settings& to, std::int64_t value);
};

/// What becomes of the text of a knob of the program.
struct program_value {
  void (*parse)(program_settings& into, origin const& where, std::string_view text); ///< throws `keel::error`
  std::string (*show)(program_settings const& all);
  void const* (*place)(program_settings const& all); ///< where its value is, to be found by
};

/// A knob.
struct knob_facts {
  knob id{};
  std::string_view option;      ///< after `--keel-`; the variable is the same in capitals
  std::string_view placeholder; ///< for the value, in the help; empty for a switch, which takes none on the command
                                ///< line, and in brackets for one that may be given one with =
  std::string_view help;
  std::optional<device_value> of_device{};   ///< empty if the program has it
  std::optional<program_value> of_program{}; ///< empty if devices have it
  bool for_ledgers = false;                  ///< only a program whose policy says `uses_ledger` has it
  bool is_alike = false; ///< all ranks have to give it the same value, because messages depend on it

  [[nodiscard]] constexpr bool of_devices() const { return of_device.has_value(); }
  [[nodiscard]] constexpr bool is_switch() const {
    return !of_devices() && (placeholder.empty() || placeholder.front() == '[');
  }
};

/// Every knob there is, in the order in which they are printed.
extern std::array<knob_facts, knob_count> const all_knobs;

[[nodiscard]] inline knob_facts const& facts(knob id) {
  return *std::find_if(all_knobs.begin(), all_knobs.end(), [&](knob_facts const& row) { return row.id == id; });
}

/// Switches that are a level of the log under another name.
struct old_spelling {
  using flag = bool residency::settings::*;
  std::string_view option;
  log_level level;
  flag told; ///< what residency logs from this level on
};
inline constexpr std::array<old_spelling, 2> old_spellings{
    {{"verbose", log_level::information, &residency::settings::verbose},
     {"veryverbose", log_level::details, &residency::settings::veryverbose}}};

/// The option nearest to `written`, both without dashes and prefix.
[[nodiscard]] std::string_view nearest_option(std::string_view written);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/table.ipp>
#endif
