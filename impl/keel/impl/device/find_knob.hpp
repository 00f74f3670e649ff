// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knob that a text names.

#include <keel/impl/device/parse.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/impl/device/option_names.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace keel::device::detail {

/// A knob as it was named.
struct named_knob {
  knob_facts const* row;
  std::string_view device = {};  ///< the one device that it was named for; empty for all
  std::string_view implied = {}; ///< the value that an old spelling stands for, as a switch; else empty

  [[nodiscard]] bool is_switch() const { return row->is_switch() || !implied.empty(); }
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
    if (!row.of_devices() || written.size() < row.option.size() + 2) continue;
    auto const cut = written.size() - row.option.size();
    if (!is(written.substr(cut), row.option) || written[cut - 1] != (capitals ? '_' : '-')) continue;
    for (auto const all : {names.devices, std::span<std::string_view const>{known_devices}})
      for (auto const device : all)
        if (is(written.substr(0, cut - 1), device)) return named_knob{&row, device};
  }
  for (auto const& old : old_spellings)
    if (is(written, old.option))
      return named_knob{&facts(knob::log_level), {}, log_level_words[std::size_t(old.level)]};
  return std::nullopt;
}

} // namespace keel::device::detail
