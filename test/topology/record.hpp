// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What keel says of a node in lines of text, for tables of expected lines and for records of whole machines.

#include <keel/topology/node.hpp>

#include "saved.hpp"

#include <support/test.hpp>

#include <fstream>

namespace keel::test {

/// A word of each object; equal neighbours are written once, as `word*count`.
std::string listed(auto const& objects, auto const& word) {
  std::string text, last;
  int count = 0;
  auto const end_run = [&] {
    if (count > 0) text += (text.empty() ? "" : " ") + last + (count > 1 ? '*' + std::to_string(count) : "");
  };
  for (auto const& object : objects) {
    std::string const now = word(object);
    if (now == last && count > 0) {
      ++count;
      continue;
    }
    end_run();
    last = now;
    count = 1;
  }
  end_run();
  return text;
}

/// All that a node says, as `what: values`: of each object, of each core to each memory and device, and of some cores
/// to each core. What is empty is left out.
inline std::vector<std::string> facts(topology::node const& n) {
  using namespace topology;
  std::vector<std::string> found;
  auto const tell = [&](std::string const& what, std::string const& values) {
    if (!values.empty()) found.push_back(what + ": " + values);
  };
  auto const text = [](auto value) { return std::to_string(value); };
  auto const known = [](std::optional<std::uint64_t> value) { return value ? std::to_string(*value) : "?"; };
  auto const of = [&](std::string const& what, auto const& objects, auto const& word) {
    tell(what, listed(objects, word));
  };
  auto const from_each_core = [&](std::string const& what, auto const& objects, auto const& word) {
    if (objects.empty()) return;
    of(what, n.cores(),
       [&](core const& c) { return listed(objects, [&](auto const& object) { return word(c.id, object.id); }) + ';'; });
  };
  auto const by_type = [&](std::string const& what, auto last, auto const& ask) { // asked for by type
    for (int t = 0; t <= int(last); ++t) tell(what + std::string{to_string(decltype(last)(t))}, to_string(ask(t)));
  };
  of("cores", n.cores(), [](core const& c) { return c.name + '=' + to_string(c.hardware_threads); });
  of("numbers of cores", n.cores(), [&](core const& c) { return text(c.os_index); });
  of("types of cores", n.cores(), [](core const& c) { return std::string{to_string(c.type)}; });
  of("speeds of cores", n.cores(), [&](core const& c) { return text(c.relative_speed); });
#if HWLOC_API_VERSION < 0x00030000 // which dropped them
  of("page sizes", n.cores(), [&](core const& c) { return text(c.page_sizes); });
#endif
  for (auto const which : {cache::l1_instruction, cache::l1_data, cache::l2, cache::l3})
    of("cache " + text(int(which)), n.cores(), [&](core const& c) { return to_string(n.sharing(c.id, which)) + ';'; });
  for (std::size_t c = 0; c < n.cores().size(); c += 1 + n.cores().size() / 8)
    of("cores from " + text(c), n.cores(), [&](core const& to) { return text(n.distance_to_core(int(c), to.id)); });
  of("memories", n.memories(), [&](memory const& m) { return m.name + '=' + text(m.os_index); });
  of("bytes", n.memories(), [&](memory const& m) { return text(m.bytes); });
  of("types of memories", n.memories(), [](memory const& m) { return std::string{to_string(m.type)}; });
  of("speeds of memories", n.memories(), [&](memory const& m) { return text(m.relative_speed); });
  of("caches of memories", n.memories(), [&](memory const& m) { return text(m.cache_bytes); });
  constexpr char const* units[]{"unknown", "nanoseconds", "relative"};
  tell("unit of latencies", units[int(n.unit_of_latencies())]);
  from_each_core("latencies", n.memories(), [&](int c, int m) { return known(n.latency(c, m)); });
  from_each_core("bandwidths", n.memories(), [&](int c, int m) { return known(n.bandwidth(c, m)); });
  from_each_core("steps to memories", n.memories(), [&](int c, int m) { return text(n.steps_to_memory(c, m)); });
  from_each_core("memories from each", n.memories(), [&](int c, int m) { return text(n.distance_to_memory(c, m)); });
  of("devices", n.devices(), [](device const& d) { return d.name + '=' + d.pci_id; });
  of("types of devices", n.devices(), [](device const& d) { return std::string{to_string(d.type)}; });
  of("speeds of devices", n.devices(), [&](device const& d) { return text(d.relative_speed); });
  of("contexts", n.devices(), [&](device const& d) { return text(d.contexts); });
  of("models", n.devices(), [](device const& d) { return '[' + d.model + ']'; });
  of("identities", n.devices(), [](device const& d) { return '[' + d.uuid + ']'; });
  from_each_core("devices from each", n.devices(), [&](int c, int d) { return text(n.distance_to_device(c, d)); });
  tell("withheld threads", to_string(n.withheld_hardware_threads()));
  tell("withheld memories", to_string(n.withheld_memories()));
  by_type("cores ", core_type::efficiency, [&](int t) { return n.nearby_cores(0, core_type(t)); });
  by_type("memories ", memory_type::cache_side, [&](int t) { return n.nearby_memories(0, memory_type(t)); });
  by_type("devices ", device_type::other, [&](int t) { return n.nearby_devices(0, device_type(t)); });
  return found;
}

/// Each rank's cores/memory/device.
inline std::string map_of(std::vector<topology::placement> const& ranks) {
  return listed(ranks, [](topology::placement const& p) {
    return to_string(p.cores) + '/' + std::to_string(p.memory) + '/' + std::to_string(p.device);
  });
}

/// Compares lines, each of which begins with a machine's name, with those on record in test/data. With
/// KEEL_TEST_RECORD=FOLDER they are written there.
inline void check_record(std::string const& name, std::string const& lines) {
  if (char const* const folder = std::getenv("KEEL_TEST_RECORD"); folder != nullptr)
    std::ofstream{std::filesystem::path{folder} / name} << lines;
  std::ifstream record{own_machine(name)};
  std::istringstream now{lines};
  for (std::string expected, found; std::getline(record, expected);) {
    if (HWLOC_API_VERSION >= 0x00030000 &&
        (expected.starts_with("hwloc1_") || expected.find("page sizes") != expected.npos))
      continue;
    REQUIRE(std::getline(now, found));
    CHECK(found == expected);
  }
  std::string more;
  CHECK_FALSE(std::getline(now, more));
}

} // namespace keel::test
