// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of a program as rows: what each is, and who said so.

#include <keel/device/json.hpp>
#include <keel/device/read.hpp>
#include <keel/device/settings.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
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
template <class Devices>
[[nodiscard]] std::vector<printed_knob> printed_knobs(option_names const& names, settings<Devices> const& all,
                                                      std::string_view device_name) {
  std::vector<printed_knob> rows;
  auto const add = [&](std::string_view option, std::string_view device, std::string value, device::source from) {
    rows.push_back({option_prefix(names.prefix) + std::string{option}, variable_name(names.prefix, option),
                    std::string{device}, std::move(value), from});
  };
  for_each_device_row([&](auto const& row) {
    for_each_device<typename settings<Devices>::devices>([&]<class Tag>(Tag) {
      auto const& c = all.template of<Tag>();
      auto const value = c.value(row.id);
      if (!value) { // none was proposed; asking for the bounds may cost a look at the whole node
        auto const allowed = c.bounds_of(row.id);
        if (!allowed || allowed->most < allowed->least) return; // it lacks the knob, or there is nothing to choose from
      }
      add(row.option, Tag::name, value ? row.kind.show(*value) : "default", c.source(row.id));
    });
  });
  for_each_program_row([&](auto const& row) {
    if (row.for_ledgers && !names.has_ledger) return;
    bool const is_device = row.id == knob::device && !all.program.is_set(row.id);
    add(row.option, "", is_device ? std::string{device_name} : row.kind.show(row.value_in(all.program)),
        all.program.source(row.id));
  });
  return rows;
}

/// Rows as an aligned table with a head, one line each.
[[nodiscard]] inline std::string table(std::vector<printed_knob> const& rows) {
  std::vector<std::array<std::string, 4>> cells{{"knob", "device", "value", "source"}};
  for (auto const& r : rows)
    cells.push_back({r.option, r.device.empty() ? "-" : r.device, r.value, std::string{name(r.from)}});
  std::array<std::size_t, 4> width{};
  for (auto const& row : cells)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (auto const& row : cells) {
    std::string line = " ";
    for (std::size_t i = 0; i < width.size(); ++i)
      line += " " + row[i] + std::string(width[i] - row[i].size() + 1, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

/// Rows as one line of JSON: an object whose `knobs` have the members of `printed_knob`.
[[nodiscard]] inline std::string json(std::vector<printed_knob> const& rows) {
  std::string all;
  for (auto const& r : rows)
    all += (all.empty() ? "{" : ", {") + ("\"option\": " + json_text(r.option)) + ", \"variable\": " +
           json_text(r.variable) + ", \"device\": " + (r.device.empty() ? "null" : json_text(r.device)) +
           ", \"value\": " + json_text(r.value) + ", \"source\": " + json_text(name(r.from)) + "}";
  return "{\"knobs\": [" + all + "]}\n";
}

} // namespace keel::device
