// SPDX-License-Identifier: MIT
#include <keel/device/print.hpp>
#include <keel/impl/device/table.hpp>
#include <keel/policy/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace keel::device {

KEEL_INLINE std::vector<printed_knob> printed_knobs(option_names const& names, common_settings const& common,
                                                    std::span<device_knobs const> devices,
                                                    std::string_view device_name) {
  std::vector<printed_knob> rows;
  for (auto const& row : all_knobs) {
    auto const add = [&](std::string_view device, std::string value, device::source from) {
      rows.push_back({option_prefix(names.prefix) + std::string{row.option}, variable_name(names.prefix, row.option),
                      std::string{device}, std::move(value), from});
    };
    if (row.of_device) {
      for (auto const& d : devices) {
        auto const value = d.value(row.of_device->id);
        if (!value) { // none was proposed; asking for the bounds may cost a look at the whole node
          auto const allowed = d.bounds_of(row.of_device->id);
          if (!allowed || allowed->most < allowed->least) continue; // there is nothing to choose from
        }
        add(d.device().name, value ? row.of_device->show(*value) : "default", d.source(row.of_device->id));
      }
    } else if (row.is_printed && (!row.for_ledgers || names.has_ledger)) {
      auto const by = row.of_program->source(common.program);
      bool const is_chosen = &row == &facts("device") && by == source::unset;
      add("", is_chosen ? std::string{device_name} : row.of_program->show(common.program), by);
    }
  }
  return rows;
}

KEEL_INLINE std::string aligned(std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> width;
  for (auto const& r : rows)
    for (std::size_t c = 0; c < r.size(); ++c) {
      width.resize(std::max(width.size(), c + 1));
      width[c] = std::max(width[c], r[c].size());
    }
  std::string text;
  if (rows.size() < 2) return text;
  for (auto const& r : rows) {
    std::string line;
    for (std::size_t c = 0; c < r.size(); ++c) line += "  " + r[c] + std::string(width[c] - r[c].size(), ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}
KEEL_INLINE std::string table(std::vector<printed_knob> const& rows) {
  std::vector<std::vector<std::string>> cells{{"knob", "device", "value", "source"}};
  for (auto const& r : rows)
    cells.push_back({r.option, r.device.empty() ? "-" : r.device, r.value, std::string{name(r.from)}});
  return aligned(cells);
}

KEEL_INLINE std::string json(std::vector<printed_knob> const& rows) {
  std::string all;
  for (auto const& r : rows)
    all += (all.empty() ? "{" : ", {") + ("\"option\": " + policy::json_text(r.option)) +
           ", \"variable\": " + policy::json_text(r.variable) +
           ", \"device\": " + (r.device.empty() ? "null" : policy::json_text(r.device)) +
           ", \"value\": " + policy::json_text(r.value) + ", \"source\": " + policy::json_text(name(r.from)) + "}";
  return "{\"knobs\": [" + all + "]}\n";
}

KEEL_INLINE std::string help_text(option_names const& names) {
  std::string text;
  std::string const ours = option_prefix(names.prefix);
  for (auto const& row : all_knobs) {
    if (row.for_ledgers && !names.has_ledger) continue;
    std::string left = "  " + ours + std::string{row.option};
    left += (row.is_switch() ? "" : " ") + std::string{row.placeholder};
    left.resize(std::max(left.size() + 2, std::size_t{34}), ' ');
    text += left + std::string{row.help} + "  [" + variable_name(names.prefix, row.option) + "]\n";
  }
  return text + "  " + ours + "DEVICE-...                 of the first " + std::to_string(space::knobs.size()) +
         ": for this device alone, as in " + ours + "tbb-num-threads\n" +
         "  --kokkos-...                    handed to Kokkos when it starts; beats the options above\n";
}

KEEL_INLINE void print_start(option_names const& names, common_settings const& common,
                             std::span<device_knobs const> devices, std::string_view device_name) {
  auto const& program = common.program;
  if (program.help) std::printf("Options of keel, and their variables:\n%s", help_text(names).c_str());
  if (program.print_configuration != print_form::off) {
    auto const rows = printed_knobs(names, common, devices, device_name);
    std::fputs((program.print_configuration == print_form::json ? json(rows) : table(rows)).c_str(), stdout);
  }
  std::fflush(stdout);
}

} // namespace keel::device
