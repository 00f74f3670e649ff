// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Who runs where, told by one rank for all.

#include <keel/machine/by_memory.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/host.hpp>
#include <keel/machine/threads.hpp>
#include <keel/policy/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::machine {

/// What one rank says of itself; texts are empty where it does not know.
struct whereabouts {
  std::string host;
  std::string cores;    ///< ids of the node's cores, `"0-3,8"`
  std::string memory;   ///< `"numa 0"`
  std::string device;   ///< PCI id, `"0000:1b:00.0"`
  std::string threads;  ///< how many there are, and of what: `"4 openmp"`
};

/// This rank's, on a node as `topology` describes it. `device` is the PCI id of the device it
/// really took; where it is empty, of the one that its place gives. Collective over the environment.
template <ThreadSource Threads = no_threads, CommunicatingRanks R>
[[nodiscard]] whereabouts whereabouts_of(basic_environment<R> const& env, topology::node const& on,
                                         std::string_view device = {}) {
  if (!env.is_member()) return {};
  auto const node = env.node();
  auto const place = place_on(on, node.rank(), node.size());
  auto const at = [](auto const& things, int id) { return things[std::size_t(id)]; };
  return {.host = host_name(),
          .cores = to_string(place.cores),
          .memory = place.memory < 0 ? "" : at(on.memories(), place.memory).name,
          .device = !device.empty() || place.device < 0 ? std::string{device} : at(on.devices(), place.device).pci_id,
          .threads = std::to_string(Threads::count()) + " " + std::string{Threads::name}};
}

namespace detail {

struct column {
  std::string_view name;
  std::string whereabouts::*field;
};
inline constexpr std::array columns{column{"host", &whereabouts::host}, column{"cores", &whereabouts::cores},
                                    column{"memory", &whereabouts::memory}, column{"device", &whereabouts::device},
                                    column{"threads", &whereabouts::threads}};

/// A JSON string; `null` where the text is empty.
[[nodiscard]] inline std::string json(std::string_view text) {
  return text.empty() ? "null" : policy::json_text(text);
}

} // namespace detail

/// What all ranks say, by rank, on the master; empty elsewhere. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::vector<whereabouts> gather_whereabouts(basic_environment<R> const& env, whereabouts const& mine) {
  std::vector<whereabouts> all(env.is_master() ? std::size_t(env.size()) : 0);
  if (!env.is_member()) return all;
  for (auto const& column : detail::columns) {
    auto const texts = gather_texts(env, mine.*column.field, env.master_rank());
    for (std::size_t r = 0; r != all.size(); ++r) all[r].*column.field = texts[r];
  }
  return all;
}

/// A table, one line a rank.
[[nodiscard]] inline std::string to_text(std::span<whereabouts const> all) {
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

/// A JSON array, one object a rank; what a rank does not know is `null`.
[[nodiscard]] inline std::string to_json(std::span<whereabouts const> all) {
  std::string text = "[";
  for (std::size_t r = 0; r != all.size(); ++r) {
    text += (r == 0 ? "\n  {\"rank\": " : ",\n  {\"rank\": ") + std::to_string(r);
    for (auto const& column : detail::columns)
      (text += ", ") += detail::json(column.name) + ": " + detail::json(all[r].*column.field);
    text += "}";
  }
  return text + "\n]\n";
}

/// Who runs where, as a table and as JSON: of all ranks, on the master; empty elsewhere. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::string describe(basic_environment<R> const& env, whereabouts const& mine) {
  auto const all = gather_whereabouts(env, mine);
  return env.is_master() ? to_text(all) : "";
}
template <CommunicatingRanks R>
[[nodiscard]] std::string describe_json(basic_environment<R> const& env, whereabouts const& mine) {
  auto const all = gather_whereabouts(env, mine);
  return env.is_master() ? to_json(all) : "";
}

} // namespace keel::machine
