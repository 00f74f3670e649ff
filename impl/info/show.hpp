// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The node, the configuration and the map as tables for people.

#include "arguments.hpp"
#include "html.hpp"
#include "knobs.hpp"

#include <keel/device/print.hpp>
#include <keel/topology.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace keel::info {

using device::aligned;
using row = std::vector<std::string>;

/// Of memory, whose units are powers of 1024.
inline std::string readable(std::uint64_t bytes) {
  return bytes == 0 ? "-" : in_units(double(bytes), {"B", "KiB", "MiB", "GiB", "TiB"}, 1024);
}

inline int nearest_memory(topology::node const& node, int core) {
  for (int steps = 0; !node.memories().empty(); ++steps)
    if (auto const near = node.nearby_memories(core, topology::memory_type::any, 0, steps); !near.empty())
      return *near.begin();
  return -1;
}

inline std::string or_dash(int id) { return id < 0 ? "-" : std::to_string(id); }

/// Neighbouring cores that are alike stand in one row.
inline std::string cores_table(topology::node const& node) {
  std::vector<row> rows{{"cores", "type", "threads", "speed", "shares L3 with", "memory"}};
  auto const alike = [&](topology::core const& c) {
    return std::tuple{c.type, c.hardware_threads.size(), c.relative_speed, node.sharing(c.id, topology::cache::l3),
                      nearest_memory(node, c.id)};
  };
  for (std::size_t first = 0, end = 0; first < node.cores().size(); first = end) {
    auto const common = alike(node.cores()[first]);
    while (end < node.cores().size() && alike(node.cores()[end]) == common) ++end;
    auto const& [type, threads, speed, l3, memory] = common;
    rows.push_back({to_string(topology::id_set::range(int(first), int(end))), std::string{to_string(type)},
                    std::to_string(threads), std::to_string(speed), l3.empty() ? "-" : to_string(l3), or_dash(memory)});
  }
  return aligned(rows);
}

inline std::string node_text(topology::node const& node) {
  using topology::id_set;
  std::vector<row> memories{{"memory", "name", "type", "size", "speed"}};
  for (auto const& m : node.memories())
    memories.push_back({std::to_string(m.id), m.name, std::string{to_string(m.type)}, readable(m.bytes),
                        std::to_string(m.relative_speed)});
  std::vector<row> devices{{"device", "type", "PCI id", "name", "speed", "near cores", "model"}};
  for (auto const& d : node.devices()) {
    id_set near;
    for (int steps = 0; near.empty(); ++steps)
      for (auto const& c : node.cores())
        if (node.distance_to_device(c.id, d.id) <= steps) near.insert(c.id);
    devices.push_back({std::to_string(d.id), std::string{to_string(d.type)}, d.pci_id.empty() ? "-" : d.pci_id, d.name,
                       std::to_string(d.relative_speed), to_string(near), d.model});
  }
  std::size_t threads = 0;
  for (auto const& c : node.cores()) threads += c.hardware_threads.size();
  auto text = "node: " + node.source() + ", " + policy::counted(std::int64_t(node.cores().size()), "core") + ", " +
              policy::counted(std::int64_t(threads), "hardware thread") + ", " +
              policy::counted(std::int64_t(node.memories().size()), "memory", "memories") + ", " +
              policy::counted(std::int64_t(node.devices().size()), "device") + '\n';
  if (auto const bound = bound_cores(node); bound.size() < node.cores().size())
    text += "bound to cores " + to_string(bound) + '\n';
  if (!node.withheld_hardware_threads().empty() || !node.withheld_memories().empty())
    text += "withheld by the system: hardware threads " + to_string(node.withheld_hardware_threads()) + "; memories " +
            to_string(node.withheld_memories()) + '\n';
  for (auto const& part : {aligned(memories), cores_table(node), aligned(devices)})
    if (!part.empty()) text += '\n' + part;
  return text;
}

inline std::string configuration_text(configuration const& all) {
  std::string text = "\ndevices of this keel:";
  for (auto const& d : all.devices)
    text += ' ' + d.name + (d.chosen ? " (chosen)" : d.available ? "" : " (not available here)");
  std::vector<row> rows{{"knob", "device", "value", "source"}};
  for (auto const& k : all.knobs) rows.push_back({k.option, k.device.empty() ? "-" : k.device, k.value, k.source});
  return text + "\n\n" + aligned(rows);
}

/// What one knob is, and what it is now; `name` is its option, with or without prefix, or its variable. Empty if no
/// knob has this name.
inline std::string explanation(configuration const& all, std::string const& name) {
  for (auto const& known : all.known) {
    auto const& knob = known.option;
    if (name != knob && "--" + name != knob && "--keel-" + name != knob && name != known.variable) continue;
    auto const head = known.option + ", " + known.variable + ": " + known.help + '\n';
    std::string now;
    for (auto const& k : all.knobs)
      if (k.option == knob)
        now += "  now " + k.value + (k.device.empty() ? "" : " for " + k.device) + ", source: " + k.source + '\n';
    return head + (now.empty() ? "  no device of this keel has it; it is accepted, and has no effect\n" : now);
  }
  return {};
}

/// The ranks that were asked for, by the rule that was.
inline std::vector<topology::placement> map_of(arguments const& asked, topology::node const& node) {
  return node.place(*asked.map, {.order = asked.bind.gpu ? topology::order::by_device : asked.by,
                                 .threads_per_core = asked.bind.smt,
                                 .greedy = asked.bind.greedy});
}

inline std::string map_text(topology::node const& node, std::vector<topology::placement> const& ranks) {
  bool const tells = node.unit_of_latencies() != topology::latency_unit::unknown;
  auto const unit = node.unit_of_latencies() == topology::latency_unit::nanoseconds ? "latency (ns)" : "latency";
  std::vector<row> rows{{"rank", "cores", "hardware threads", "memory", "steps", "device", "PCI id", "steps"}};
  if (tells) rows[0].insert(rows[0].begin() + 5, unit);
  for (auto const& p : ranks) {
    auto const steps = [&](int id, auto const& distance) {
      int least = -1;
      for (int const c : p.cores)
        if (id >= 0)
          if (int const d = distance(c, id); least < 0 || d < least) least = d;
      return or_dash(least);
    };
    auto const pci = p.device < 0 ? std::string{"-"} : node.devices()[std::size_t(p.device)].pci_id;
    auto const to_memory = steps(p.memory, [&](int c, int m) { return node.steps_to_memory(c, m); });
    auto const to_device = steps(p.device, [&](int c, int d) { return node.distance_to_device(c, d); });
    rows.push_back({std::to_string(&p - ranks.data()), to_string(p.cores), to_string(p.hardware_threads),
                    or_dash(p.memory), to_memory, or_dash(p.device), pci.empty() ? "-" : pci, to_device});
    std::optional<std::uint64_t> latency;
    for (int const c : p.cores)
      if (auto const own = p.memory < 0 ? std::nullopt : node.latency(c, p.memory);
          own && (!latency || *own < *latency))
        latency = own;
    if (tells) rows.back().insert(rows.back().begin() + 5, latency ? std::to_string(*latency) : "-");
  }
  return '\n' + aligned(rows);
}

} // namespace keel::info
