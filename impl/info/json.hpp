// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The node, the configuration and the map as JSON for programs.

#include "knobs.hpp"
#include "shown.hpp"

#include <keel/policy/json.hpp>
#include <keel/topology.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::info::json {

/// The form that schema.json describes; rises by one with every change that a reader could notice.
inline constexpr int schema = 2;

using policy::json_text;

inline std::string object(std::initializer_list<std::pair<char const*, std::string>> members) {
  std::string made;
  for (auto const& [name, value] : members) made += (made.empty() ? "{" : ", ") + json_text(name) + ": " + value;
  return made + '}';
}

/// `each(item)` for every item.
inline std::string array(auto const& items, auto const& each, std::string const& between = ", ") {
  std::string made;
  for (auto const& item : items) made += (made.empty() ? "" : between) + each(item);
  return '[' + made + ']';
}

inline std::string ids(topology::id_set const& set) {
  return array(set, [](int id) { return std::to_string(id); });
}

inline std::string memory(topology::memory const& m) {
  return object({{"id", std::to_string(m.id)},
                 {"name", json_text(m.name)},
                 {"type", json_text(to_string(m.type))},
                 {"bytes", std::to_string(m.bytes)},
                 {"cache_bytes", std::to_string(m.cache_bytes)},
                 {"base_address", m.base_address ? std::to_string(*m.base_address) : "null"},
                 {"relative_speed", std::to_string(m.relative_speed)}});
}

inline std::string core(topology::node const& n, topology::core const& c) {
  using topology::cache;
  return object({{"id", std::to_string(c.id)},
                 {"name", json_text(c.name)},
                 {"type", json_text(to_string(c.type))},
                 {"hardware_threads", ids(c.hardware_threads)},
                 {"relative_speed", std::to_string(c.relative_speed)},
                 {"page_sizes", std::to_string(c.page_sizes)},
                 {"shares_l1_instruction", ids(n.sharing(c.id, cache::l1_instruction))},
                 {"shares_l1_data", ids(n.sharing(c.id, cache::l1_data))},
                 {"shares_l2", ids(n.sharing(c.id, cache::l2))},
                 {"shares_l3", ids(n.sharing(c.id, cache::l3))}});
}

inline std::string device(topology::device const& d) {
  return object({{"id", std::to_string(d.id)},
                 {"type", json_text(to_string(d.type))},
                 {"name", json_text(d.name)},
                 {"pci_id", d.pci_id.empty() ? "null" : json_text(d.pci_id)},
                 {"model", d.model.empty() ? "null" : json_text(d.model)},
                 {"uuid", d.uuid.empty() ? "null" : json_text(d.uuid)},
                 {"contexts", d.contexts == 0 ? "null" : std::to_string(d.contexts)},
                 {"relative_speed", std::to_string(d.relative_speed)}});
}

/// A row for each core, in it a number or null for each memory; null if nothing is known.
inline std::string to_memories(topology::node const& n, auto const& ask) {
  bool is_known = false;
  auto const rows = array(n.cores(), [&](auto const& c) {
    return array(n.memories(), [&](auto const& m) {
      auto const value = ask(c.id, m.id);
      is_known = is_known || value.has_value();
      return value ? std::to_string(*value) : std::string{"null"};
    });
  });
  return is_known ? rows : "null";
}

inline std::string node(topology::node const& n) {
  std::string const line = ",\n     ";
  return object({{"source", json_text(n.source())},
                 {"this_machine", n.is_this_machine() ? "true" : "false"},
                 {"bound_cores", ids(bound_cores(n))},
                 {"withheld_hardware_threads", ids(n.withheld_hardware_threads())},
                 {"withheld_memories", ids(n.withheld_memories())},
                 {"memories", array(
                                  n.memories(), [](auto const& m) { return memory(m); }, line)},
                 {"latency_unit", json_text(to_string(n.unit_of_latencies()))},
                 {"latencies", to_memories(n, [&](int c, int m) { return n.latency(c, m); })},
                 {"bandwidths", to_memories(n, [&](int c, int m) { return n.bandwidth(c, m); })},
                 {"cores", array(
                               n.cores(), [&](auto const& c) { return core(n, c); }, line)},
                 {"devices", array(n.devices(), [](auto const& d) { return device(d); }, line)}});
}

inline std::string placement(topology::placement const& p) {
  return object({{"cores", ids(p.cores)},
                 {"hardware_threads", ids(p.hardware_threads)},
                 {"memory", p.memory < 0 ? "null" : std::to_string(p.memory)},
                 {"device", p.device < 0 ? "null" : std::to_string(p.device)}});
}

inline std::string knob(knob_row const& k) {
  return object({{"option", json_text(k.option)},
                 {"variable", json_text(k.variable)},
                 {"device", k.device.empty() ? "null" : json_text(k.device)},
                 {"value", json_text(k.value)},
                 {"source", json_text(k.source)}});
}

inline std::string keel_device(device_row const& d) {
  return object({{"name", json_text(d.name)},
                 {"available", d.available ? "true" : "false"},
                 {"chosen", d.chosen ? "true" : "false"}});
}

/// The whole document. `ranks` is null if no map was asked for.
inline std::string document(topology::node const& n, configuration const& c,
                            std::vector<topology::placement> const* ranks) {
  std::string const line = ",\n     ";
  auto const map = ranks == nullptr ? "null" : array(*ranks, [](auto const& p) { return placement(p); }, line);
  return "{\"schema\": " + std::to_string(schema) + ",\n \"node\": " + node(n) +
         ",\n \"devices\": " + array(c.devices, [](auto const& d) { return keel_device(d); }) + ",\n \"knobs\": " +
         array(c.knobs, [](auto const& k) { return knob(k); }, line) + ",\n \"map\": " + map + "}\n";
}

} // namespace keel::info::json
