// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The node, the configuration and the map as JSON for programs.

#include "knobs.hpp"

#include <keel/topology.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace keel::info {

/// The form that schema.json describes; rises by one with every change that a reader could notice.
inline constexpr int schema = 2;

/// Members in the order in which they are written.
using json = nlohmann::ordered_json;

/// Bytes that are no UTF-8, as a file's name may have, become U+FFFD.
inline std::string text_of(json const& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

inline json null_unless(bool is_known, json value) { return is_known ? std::move(value) : json{}; }

/// `each(item)` for every item.
inline json list_of(auto const& items, auto const& each) {
  auto made = json::array();
  for (auto const& item : items) made.push_back(each(item));
  return made;
}
inline json ids(topology::id_set const& set) {
  return list_of(set, [](int id) { return id; });
}

inline json memory_json(topology::memory const& m) {
  return {{"id", m.id},
          {"name", m.name},
          {"type", to_string(m.type)},
          {"bytes", m.bytes},
          {"cache_bytes", m.cache_bytes},
          {"base_address", null_unless(m.base_address.has_value(), m.base_address.value_or(0))},
          {"relative_speed", m.relative_speed}};
}

inline json core_json(topology::node const& n, topology::core const& c) {
  using topology::cache;
  return {{"id", c.id},
          {"name", c.name},
          {"type", to_string(c.type)},
          {"hardware_threads", ids(c.hardware_threads)},
          {"relative_speed", c.relative_speed},
          {"page_sizes", c.page_sizes},
          {"shares_l1_instruction", ids(n.sharing(c.id, cache::l1_instruction))},
          {"shares_l1_data", ids(n.sharing(c.id, cache::l1_data))},
          {"shares_l2", ids(n.sharing(c.id, cache::l2))},
          {"shares_l3", ids(n.sharing(c.id, cache::l3))}};
}

inline json device_json(topology::device const& d) {
  return {{"id", d.id},
          {"type", to_string(d.type)},
          {"name", d.name},
          {"pci_id", null_unless(!d.pci_id.empty(), d.pci_id)},
          {"model", null_unless(!d.model.empty(), d.model)},
          {"uuid", null_unless(!d.uuid.empty(), d.uuid)},
          {"contexts", null_unless(d.contexts != 0, d.contexts)},
          {"relative_speed", d.relative_speed}};
}

/// A row for each core, in it a number or null for each memory; null if nothing is known.
inline json to_memories(topology::node const& n, auto const& ask) {
  bool is_known = false;
  auto rows = list_of(n.cores(), [&](auto const& c) {
    return list_of(n.memories(), [&](auto const& m) {
      auto const value = ask(c.id, m.id);
      is_known = is_known || value.has_value();
      return null_unless(value.has_value(), value.value_or(0));
    });
  });
  return null_unless(is_known, std::move(rows));
}

inline json node_json(topology::node const& n) {
  return {{"source", n.source()},
          {"this_machine", n.is_this_machine()},
          {"bound_cores", ids(bound_cores(n))},
          {"withheld_hardware_threads", ids(n.withheld_hardware_threads())},
          {"withheld_memories", ids(n.withheld_memories())},
          {"memories", list_of(n.memories(), memory_json)},
          {"latency_unit", to_string(n.unit_of_latencies())},
          {"latencies", to_memories(n, [&](int c, int m) { return n.latency(c, m); })},
          {"bandwidths", to_memories(n, [&](int c, int m) { return n.bandwidth(c, m); })},
          {"cores", list_of(n.cores(), [&](auto const& c) { return core_json(n, c); })},
          {"devices", list_of(n.devices(), device_json)}};
}

inline json map_json(std::vector<topology::placement> const& ranks) {
  return list_of(ranks, [](topology::placement const& p) {
    return json{{"cores", ids(p.cores)},
                {"hardware_threads", ids(p.hardware_threads)},
                {"memory", null_unless(p.memory >= 0, p.memory)},
                {"device", null_unless(p.device >= 0, p.device)}};
  });
}

inline json knobs_json(configuration const& c) {
  return list_of(c.knobs, [](knob_row const& k) {
    return json{{"option", k.option},
                {"variable", k.variable},
                {"device", null_unless(!k.device.empty(), k.device)},
                {"value", k.value},
                {"source", k.source}};
  });
}

/// The whole document. `ranks` is null if no map was asked for.
inline std::string document(topology::node const& n, configuration const& c,
                            std::vector<topology::placement> const* ranks) {
  auto const devices = list_of(c.devices, [](device_row const& d) {
    return json{{"name", d.name}, {"available", d.available}, {"chosen", d.chosen}};
  });
  return text_of({{"schema", schema},
                  {"node", node_json(n)},
                  {"devices", devices},
                  {"knobs", knobs_json(c)},
                  {"map", ranks == nullptr ? json{} : map_json(*ranks)}}) +
         '\n';
}

} // namespace keel::info
