// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The knobs of a program as rows: what each is, and who said so.

#include <keel/device/knobs.hpp>
#include <keel/device/read.hpp>
#include <keel/device/settings.hpp>

#include <algorithm>
#include <array>
#include <optional>
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

namespace detail {

template <class Tag>
[[nodiscard]] std::optional<int> value_of(configuration<Tag> const& c, knob id) {
  switch (id) {
  case knob::threads: return c.threads();
  case knob::numa_regions: return c.numa_regions();
  case knob::device_instance: return c.device_instance();
  default: return std::nullopt;
  }
}

[[nodiscard]] inline std::string value_of(program_settings const& p, knob id, std::string_view device_name) {
  for (auto const& [answer, member] : residency_answers)
    if (answer == id) return p.residency.*member ? "yes" : "no";
  switch (id) {
  case knob::device: return std::string{device_name};
  case knob::num_devices: return p.num_devices.value ? std::to_string(*p.num_devices.value) : "all";
  case knob::map_device_by: return std::string{device_mapping_words[static_cast<std::size_t>(p.map_device_by.value)]};
  case knob::topology_cache: return p.topology_cache.is_set() ? p.topology_cache.value : "off";
  case knob::log_level: return std::string{log_level_words[static_cast<std::size_t>(p.log_level.value)]};
  case knob::copy_back_every:
    return p.residency.copy_back_every ? std::to_string(*p.residency.copy_back_every) : "never";
  case knob::copy_back_vars: return p.residency.copy_back_vars.empty() ? "none" : p.residency.copy_back_vars;
  case knob::trace_file: return p.residency.trace_file;
  case knob::print_configuration: return p.print_configuration.value ? "on" : "off";
  case knob::help: return p.help.value ? "on" : "off";
  default: return "";
  }
}

} // namespace detail

/// A row for each knob of each device that has it, then the program's own, in the order of the table of knobs.
template <class Devices>
[[nodiscard]] std::vector<printed_knob> printed_knobs(std::string_view prefix, settings<Devices> const& all,
                                                      std::string_view device_name) {
  std::vector<printed_knob> rows;
  for (auto const& k : all_knobs) {
    auto const add = [&](std::string_view device, std::string value, device::source from) {
      rows.push_back({option_prefix(prefix) + std::string{k.option}, variable_prefix(prefix) + std::string{k.variable},
                      std::string{device}, std::move(value), from});
    };
    if (k.id == knob::threads || k.id == knob::numa_regions || k.id == knob::device_instance) {
      for_each_device<typename settings<Devices>::devices>([&]<class Tag>(Tag) {
        auto const& c = all.template of<Tag>();
        if (auto const value = detail::value_of(c, k.id)) add(Tag::name, std::to_string(*value), c.source(k.id));
      });
    } else {
      add("", detail::value_of(all.program, k.id, device_name), all.program.source(k.id));
    }
  }
  return rows;
}

/// Rows as an aligned table with a head, one line each.
[[nodiscard]] inline std::string table(std::vector<printed_knob> const& rows) {
  std::vector<std::array<std::string, 4>> cells{{"knob", "device", "value", "source"}};
  for (auto const& r : rows) cells.push_back({r.option, r.device.empty() ? "-" : r.device, r.value, std::string{name(r.from)}});
  std::array<std::size_t, 4> width{};
  for (auto const& row : cells)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (auto const& row : cells) {
    std::string line = " ";
    for (std::size_t i = 0; i < width.size(); ++i) line += " " + row[i] + std::string(width[i] - row[i].size() + 1, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

} // namespace keel::device
