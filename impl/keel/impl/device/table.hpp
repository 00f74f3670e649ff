// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The table of knobs. A row says how its knob is called, parses, stores, agrees over ranks, prints and explains
/// itself, whatever the devices of the program are.

#include <keel/device/knobs.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/macros.hpp>
#include <keel/policy/tags.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

/// The names of the devices of a list.
template <class... Tags>
[[nodiscard]] constexpr auto names_of(list<Tags...>) {
  return std::array<std::string_view, sizeof...(Tags)>{Tags::name...};
}
template <class Devices>
inline constexpr auto names_of_devices = names_of(policy::to_list<Devices>{});
/// Those that keel knows, whether this program has them or not. An array of its own, because a `names_of_devices` of
/// all devices would be a symbol that names them in every program.
inline constexpr auto known_devices = names_of(all_devices{});

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

struct knob_facts;

/// A knob as it was written: not yet parsed, with the words that name its origin, `--keel-num-threads` or
/// `KEEL_NUM_THREADS`.
struct assignment {
  knob_facts const* row;
  std::string text, where;
  device::source from;
  std::string_view device = {}; ///< the one that is meant; empty for all that have the knob
};

/// What becomes of the text of a device's knob, each device with a value of its own.
struct device_value {
  knob id;
  std::int64_t (*parse)(std::string const& where, std::string_view text); ///< throws `keel::error`
  std::string (*show)(std::int64_t value);
};

/// What becomes of the text of a knob of the program.
struct program_value {
  void (*store)(program_settings& into, assignment const& a); ///< parses it; throws `keel::error`
  std::string (*show)(program_settings const& all);
  device::source (*source)(program_settings const& all);
};

/// A knob.
struct knob_facts {
  std::string_view option;      ///< after `--keel-`; the variable is the same in capitals
  std::string_view placeholder; ///< for the value, in the help; empty for a switch, which takes none on the command
                                ///< line, and in brackets for one that may be given one with =
  std::string_view help;
  std::optional<device_value> of_device{};   ///< empty if the program has it
  std::optional<program_value> of_program{}; ///< empty if devices have it
  bool for_ledgers = false;                  ///< only a program whose policy says `uses_ledger` has it
  bool is_alike = false;  ///< all ranks have to give it the same value, because messages depend on it
  bool is_printed = true; ///< with the configuration; not an older name of another knob

  [[nodiscard]] constexpr bool is_switch() const {
    return !of_device && (placeholder.empty() || placeholder.front() == '[');
  }
};

/// Every knob there is, in the order in which they are printed: those of devices, by `knob`, then those of the program.
extern std::span<knob_facts const> const all_knobs;
[[nodiscard]] inline knob_facts const& facts(knob id) { return all_knobs[std::size_t(id)]; }
/// The row of an option that there is.
[[nodiscard]] knob_facts const& facts(std::string_view option);

/// The values of the knobs that all ranks have to give alike: option=value, each with a zero after it.
[[nodiscard]] std::string alike_knobs(program_settings const& program);

/// A knob as it was named, for one device or for all.
struct named_knob {
  knob_facts const* row;
  std::string_view device = {}; ///< empty for all
};

/// The knob that `written` names: `num-threads`, or `tbb-num-threads`; in capitals and with underscores where it is a
/// variable's.
[[nodiscard]] std::optional<named_knob> find_knob(std::string_view written, option_names const& names,
                                                  bool is_variable = false);

/// The option nearest to `written`, both without dashes and prefix.
[[nodiscard]] std::string_view nearest_option(std::string_view written);

/// The variable that is meant by `written`, which no knob has: the nearest one, if it is near; else `written` belongs
/// to another program. With keel's own prefix four letters may be wrong, half of them at most; with an application's
/// two.
[[nodiscard]] std::string meant_variable(option_names const& names, std::string const& written);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/table.ipp>
#endif
