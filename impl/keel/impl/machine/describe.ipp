// SPDX-License-Identifier: MIT
#include <keel/machine/describe.hpp>
#include <keel/impl/machine/by_memory.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/json.hpp>

#include <algorithm>

namespace keel::machine {

namespace detail {

/// A JSON string; `null` if the text is empty.
inline std::string json(std::string_view text) { return text.empty() ? "null" : policy::json_text(text); }

KEEL_INLINE whereabouts whereabouts_on(topology::node const& on, int rank, int size, std::string_view device) {
  auto const place = place_on(on, rank, size);
  auto const at = [](auto const& things, int id) { return things[std::size_t(id)]; };
  return {.host = host_name(),
          .cores = to_string(place.cores),
          .memory = place.memory < 0 ? "" : at(on.memories(), place.memory).name,
          .device = !device.empty() || place.device < 0 ? std::string{device} : at(on.devices(), place.device).pci_id,
          .threads = {}};
}

} // namespace detail

KEEL_INLINE std::string to_text(std::span<whereabouts const> all) {
  std::vector<std::string> lines{"rank"};
  for (std::size_t r = 0; r != all.size(); ++r) lines.push_back(std::to_string(r));
  auto const pad = [&] {
    std::size_t width = 0;
    for (auto const& line : lines) width = std::max(width, line.size());
    for (auto& line : lines) line.resize(width + 2, ' ');
  };
  for (auto const& column : detail::columns) {
    pad();
    lines[0] += column.name;
    for (std::size_t r = 0; r != all.size(); ++r) {
      auto const& value = all[r].*column.field;
      lines[r + 1] += value.empty() ? "-" : value;
    }
  }
  std::string text;
  for (auto const& line : lines) text += line + '\n';
  return text;
}

KEEL_INLINE std::string to_json(std::span<whereabouts const> all) {
  std::string text = "[";
  for (std::size_t r = 0; r != all.size(); ++r) {
    text += (r == 0 ? "\n  {\"rank\": " : ",\n  {\"rank\": ") + std::to_string(r);
    for (auto const& column : detail::columns)
      (text += ", ") += detail::json(column.name) + ": " + detail::json(all[r].*column.field);
    text += "}";
  }
  return text + "\n]\n";
}

} // namespace keel::machine
