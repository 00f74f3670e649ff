// SPDX-License-Identifier: MIT
#include <keel/impl/topology/cards.hpp>
#include <keel/topology/node.hpp>

#include <laws/topology.hpp>
#include <support/folder.hpp>
#include <support/message_of.hpp>
#include <support/skip.hpp>

#include "saved.hpp"
#include "walk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

using namespace keel::topology;
using keel::test::message_of, keel::test::own_machine, keel::test::refuses;

namespace {

void check_counts(std::filesystem::path const& file, keel::test::counted const& m) {
  CAPTURE(file);
  auto const n = node::from_xml(file);
  CHECK(n.memories().size() == std::size_t(m.memories));
  CHECK(n.cores().size() == std::size_t(m.cores));
  CHECK(n.devices().size() == std::size_t(m.devices));
  auto const is_gpu = [](device const& d) { return d.type == device_type::gpu; };
  CHECK(std::count_if(n.devices().begin(), n.devices().end(), is_gpu) == m.gpus);
  CHECK_FALSE(n.is_this_machine());
}

/// Same cores, memories and devices as hwloc, and the same distance from every core to each.
void check_against_hwloc(std::filesystem::path const& file) {
  CAPTURE(file);
  auto const n = node::from_xml(file);
  keel::test::walk const oracle{file};
  REQUIRE(oracle.good());
  REQUIRE(n.cores().size() == oracle.cores().size());
  REQUIRE(n.memories().size() == oracle.memories().size());
  for (auto const& c : n.cores()) {
    auto const object = oracle.cores()[std::size_t(c.id)];
    REQUIRE(std::set<int>(c.hardware_threads.begin(), c.hardware_threads.end()) == oracle.threads(object));
    CHECK(c.os_index == (object->os_index == HWLOC_UNKNOWN_INDEX ? c.id : int(object->os_index)));
    CHECK(c.name == (object->type == HWLOC_OBJ_PU ? "thread " : "core ") + std::to_string(c.os_index));
    for (auto const& other : n.cores())
      REQUIRE(n.distance_to_core(c.id, other.id) ==
              oracle.distance(oracle.cores()[std::size_t(c.id)], oracle.cores()[std::size_t(other.id)]));
    for (auto const& m : n.memories())
      REQUIRE(n.steps_to_memory(c.id, m.id) ==
              oracle.distance(oracle.cores()[std::size_t(c.id)], oracle.memories()[std::size_t(m.id)]));
    for (auto const& d : n.devices())
      REQUIRE(n.distance_to_device(c.id, d.id) ==
              oracle.distance(oracle.cores()[std::size_t(c.id)], oracle.device(d.pci_id, d.name)));
  }
  for (auto const& m : n.memories()) {
    auto const object = oracle.memories()[std::size_t(m.id)];
    CHECK(unsigned(m.os_index) == object->os_index);
    CHECK(m.bytes == object->attr->numanode.local_memory);
  }
}

/// The text of a machine of the project's, for tests that change it.
std::string text_of(std::string const& file) { return keel::test::content(own_machine(file)); }
void replace(std::string& text, std::string const& from, std::string const& to) {
  REQUIRE(text.find(from) != text.npos);
  text.replace(text.find(from), from.size(), to);
}
/// A machine of the project's with other words in its text.
node with_words(std::string const& file, std::vector<std::pair<std::string, std::string>> const& others) {
  auto text = text_of(file);
  for (auto const& [from, to] : others) replace(text, from, to);
  return node::from_xml_text(text);
}

device const& named(node const& n, std::string_view name) {
  for (auto const& d : n.devices())
    if (d.name == name) return d;
  throw keel::error("test", "no device called " + std::string{name});
}

} // namespace

TEST_CASE("topology: the project's machines have the counted memories, cores and devices") {
  for (auto const& m : keel::test::own_machines) check_counts(own_machine(m.file), m);
}

TEST_CASE("topology: real machines have the counted memories, cores and devices") {
  auto const folder = keel::test::real_machines_folder();
  if (folder.empty()) return keel::test::skip("no saved topologies");
  for (auto const& m : keel::test::real_machines) check_counts(folder / m.file, m);
}

TEST_CASE("topology: objects and distances are those of a walk over hwloc") {
  for (auto const& file : keel::test::all_machines()) check_against_hwloc(file);
}

TEST_CASE("topology: nearness keeps its laws for every core of every machine") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    int const cores = int(n.cores().size());
    keel::laws::nearness(cores, n.cores().size(), std::vector{core_type::performance, core_type::efficiency},
                         core_type::any, [&](int c, core_type t, int a, int b) { return n.nearby_cores(c, t, a, b); });
    keel::laws::nearness(cores, n.memories().size(),
                         std::vector{memory_type::dram, memory_type::high_bandwidth, memory_type::device,
                                     memory_type::persistent, memory_type::cxl, memory_type::cache_side},
                         memory_type::any,
                         [&](int c, memory_type t, int a, int b) { return n.nearby_memories(c, t, a, b); });
    keel::laws::nearness(cores, n.devices().size(),
                         std::vector{device_type::network, device_type::gpu, device_type::fpga,
                                     device_type::coprocessor, device_type::storage, device_type::other},
                         device_type::any,
                         [&](int c, device_type t, int a, int b) { return n.nearby_devices(c, t, a, b); });
    for (int c = 0; c < cores; ++c) CHECK(n.nearby_cores(c, core_type::any, 0, 0) == id_set{c});
  }
}

TEST_CASE("topology: steps can be compared between the cores of every machine") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    int const cores = int(n.cores().size());
    auto const between = [&](int a, int b) { return n.distance_to_core(a, b); };
    keel::laws::steps_compare(cores, cores, between, between);
    keel::laws::steps_compare(cores, int(n.memories().size()), between,
                              [&](int c, int m) { return n.steps_to_memory(c, m); });
    keel::laws::steps_compare(cores, int(n.devices().size()), between,
                              [&](int c, int d) { return n.distance_to_device(c, d); });
  }
}

TEST_CASE("topology: on every machine equal places are equally many steps away, and steps rise with the way up") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    keel::test::walk const oracle{file};
    std::map<int, int> steps_to; // by the depth of what holds both
    auto const check = [&](int steps, core const& from, hwloc_obj_t to) {
      auto const depth = keel::test::walk::common_depth(oracle.cores()[std::size_t(from.id)], to);
      REQUIRE(steps_to.emplace(depth, steps).first->second == steps);
    };
    for (auto const& c : n.cores()) {
      for (auto const& other : n.cores())
        check(n.distance_to_core(c.id, other.id), c, oracle.cores()[std::size_t(other.id)]);
      for (auto const& m : n.memories())
        if (auto const to = oracle.memories()[std::size_t(m.id)]; !keel::test::walk::is_nowhere(to))
          check(n.steps_to_memory(c.id, m.id), c, to);
      for (auto const& d : n.devices()) check(n.distance_to_device(c.id, d.id), c, oracle.device(d.pci_id, d.name));
    }
    for (auto at = steps_to.begin(); at != steps_to.end() && std::next(at) != steps_to.end(); ++at)
      CHECK(at->second >= std::next(at)->second);
  }
}

TEST_CASE("topology: the table of cores says what the distances say") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    int const cores = int(n.cores().size());
    for (int c = 0; c < cores; c += 1 + cores / 40)
      for (int min = 0; min < 6; ++min)
        for (int max = min; max < 7; ++max) {
          auto const shell = n.cores_between(c, min, max == 6 ? -1 : max);
          int inside = 0;
          for (int other = 0; other < cores; ++other) {
            int const steps = n.distance_to_core(c, other);
            bool const expected = steps >= min && (max == 6 || steps <= max);
            REQUIRE(shell.contains(other) == expected);
            inside += expected;
          }
          REQUIRE(shell.size() == inside);
        }
  }
}

TEST_CASE("topology: in a regular tree cores are as far from each other both ways") {
  for (auto const* text : {"package:2 numa:2 l3:2 core:3 pu:2", "package:4 core:4 pu:1", "numa:8 pu:4"}) {
    auto const n = node::from_synthetic(text);
    for (int a = 0; a < int(n.cores().size()); ++a)
      for (int b = 0; b < a; ++b) CHECK(n.distance_to_core(a, b) == n.distance_to_core(b, a));
  }
}

TEST_CASE("topology: a core whose neighbour is switched off is as far from its memory as the others") {
  auto const n = node::from_xml(own_machine("one_offline.xml")); // pairs of cores share a cache; 4, 15 and 16 are alone
  REQUIRE(n.cores().size() == 17);
  for (auto const& c : n.cores()) {
    int const package = c.id < 7 ? 0 : c.id < 15 ? 1 : 2;
    bool const is_alone = c.id == 4 || c.id >= 15;
    for (auto const& m : n.memories()) CHECK(n.steps_to_memory(c.id, m.id) == (m.id == package ? 2 : 3));
    CHECK(n.distance_to_device(c.id, 0) == (package == 0 ? 2 : 3));
    CHECK(n.nearby_cores(c.id, core_type::any, 0, 1).size() == (is_alone ? 1 : 2));
    CHECK(n.nearby_cores(c.id, core_type::any, 0, 2) == (package == 0   ? id_set::range(0, 7)
                                                         : package == 1 ? id_set::range(7, 15)
                                                                        : id_set::range(15, 17)));
  }
  for (auto const& p : n.place(3, {.order = order::by_device})) CHECK((p.cores - id_set::range(0, 7)).empty());
}

TEST_CASE("topology: a core is called by the system's number, which is not its id") {
  auto const n = node::from_synthetic("core:3(indexes=2,0,1) pu:1(indexes=0,1,2)");
  REQUIRE(n.cores().size() == 3);
  for (int const id : {0, 1, 2}) {
    int const number = id == 0 ? 2 : id - 1;
    CHECK(n.cores()[std::size_t(id)].os_index == number);
    CHECK(n.cores()[std::size_t(id)].name == "core " + std::to_string(number));
  }
}

TEST_CASE("topology: distance counts the different localities on the way up") {
  auto const n = node::from_synthetic("package:2 numa:2 l3:1 core:2 pu:2"); // the L3 is the NUMA node's locality
  CHECK(n.cores().size() == 8);
  CHECK(n.distance_to_core(0, 0) == 0);
  CHECK(n.distance_to_core(0, 1) == 1);
  CHECK(n.distance_to_core(0, 2) == 2);
  CHECK(n.distance_to_core(0, 4) == 3);
  CHECK(n.distance_to_memory(0, 0) == 1);
  CHECK(n.distance_to_memory(0, 3) == 3);
  CHECK(n.nearby_cores(5, core_type::any, 1, 2) == id_set{4, 6, 7});
  CHECK(n.nearby_memories(5, memory_type::dram, 0, 1) == id_set{2});
  CHECK(n.nearby_memories(5, memory_type::high_bandwidth).empty());
}

TEST_CASE("topology: a core that is not there and a range without steps are refused") {
  auto const n = node::from_synthetic("core:2 pu:1");
  CHECK_THROWS_AS((void)n.nearby_cores(2), keel::error);
  CHECK_THROWS_AS((void)n.nearby_cores(-1), keel::error);
  auto const message = message_of([&] { (void)n.distance_to_memory(5, 0); });
  CHECK(message.find("5") < message.find("2")); // the id first, then how many there are
  CHECK_THROWS_AS((void)n.nearby_memories(0, memory_type::any, 2, 1), keel::error);
  CHECK_THROWS_AS((void)n.nearby_memories(0, memory_type::any, 0, -2), keel::error);
  CHECK_THROWS_AS((void)n.nearby_devices(0, device_type::any, -1, -1), keel::error);
  CHECK(refuses([&] { (void)n.cores_between(0, 3, 2); }, "between 3 and 2"));
  CHECK_THROWS_AS((void)n.cores_between(9, 0), keel::error);
  CHECK_THROWS_AS((void)n.distance_to_memory(0, 1), keel::error);
  CHECK_THROWS_AS((void)n.sharing(7, cache::l2), keel::error);
}

TEST_CASE("topology: one card is one device, whatever it shows") {
  auto const n = node::from_xml(own_machine("interfaces.xml"));
  auto const& network = n.devices()[0]; // two functions, five interfaces
  CHECK(network.type == device_type::network);
  CHECK(network.pci_id == "0000:01:00.0");
  CHECK(network.name == "ens1f0");
  auto const& gpu = n.devices()[1]; // with a disk controller of its own
  CHECK(gpu.type == device_type::gpu);
  CHECK(gpu.uuid == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(n.devices()[2].type == device_type::other); // a console's display
  CHECK(n.devices()[3].pci_id == "0101:04:00.0");
  CHECK(n.devices()[3].type == device_type::storage);
  CHECK(named(n, "sdb").pci_id.empty());
}

TEST_CASE("topology: a GPU known only to the bus is a GPU, and so are those that are no displays") {
  auto const bare = node::from_xml(own_machine("gpus8_numa4.xml"));
  CHECK(bare.nearby_devices(0, device_type::gpu, 0, 1) == id_set{0, 1});
  CHECK(bare.devices()[0].name == "0000:01:00.0");
  auto const n = node::from_xml(own_machine("accelerators.xml"));
  device_type const expected[]{device_type::fpga,        device_type::gpu,     device_type::coprocessor,
                               device_type::coprocessor, device_type::network, device_type::storage,
                               device_type::network};
  for (auto const& d : n.devices()) CHECK(d.type == expected[d.id]);
  CHECK(n.devices()[1].contexts == 1);
}

TEST_CASE("topology: of ATI's displays only those of old servers compute nothing") {
  auto const only_displays = [](unsigned vendor, unsigned product) {
    detail::pci_function pci{};
    pci.vendor_id = static_cast<unsigned short>(vendor), pci.device_id = static_cast<unsigned short>(product);
    return detail::only_displays(pci);
  };
  for (unsigned const display : {0x515eu, 0x5969u, 0x4752u}) {
    CHECK(only_displays(0x1002, display));
    CHECK_FALSE(only_displays(0x10de, display));
  }
  CHECK_FALSE(only_displays(0x1002, 0x74a1));
  CHECK(only_displays(0x1a03, 0x74a1));
}

TEST_CASE("topology: the model of a card is its vendor and its product, the first that are told") {
  std::string const fact = "<info name=\"Contexts\" value=\"4\"/>";
  auto const model = [&](std::string const& more) {
    return with_words("contexts.xml", {{fact, fact + more}}).devices()[0].model;
  };
  auto const info = [](std::string const& name, std::string const& value) {
    return "<info name=\"" + name + "\" value=\"" + value + "\"/>";
  };
  CHECK(model("").empty());
  CHECK(model(info("PCIVendor", "Maker")) == "Maker");
  CHECK(model(info("PCIDevice", "Board 7")) == "Board 7");
  CHECK(model(info("PCIVendor", "Maker") + info("PCIDevice", "Board 7")) == "Maker Board 7");
  CHECK(model(info("GPUVendor", "Other") + info("PCIDevice", "Board 7")) == "Board 7");
}

TEST_CASE("topology: cores say what they are made for, how fast, and what they share") {
  auto const n = node::from_xml(own_machine("hybrid.xml"));
  CHECK(n.nearby_cores(0, core_type::performance) == id_set::range(0, 8));
  CHECK(n.nearby_cores(0, core_type::efficiency) == id_set::range(8, 16));
  CHECK(n.cores()[0].relative_speed == 100);
  CHECK(n.cores()[8].relative_speed == 75);
  CHECK(n.cores()[0].hardware_threads == id_set{0, 1});
#if HWLOC_API_VERSION >= 0x00030000
  CHECK(n.cores()[0].page_sizes == 0); // hwloc 3 dropped them
#else
  CHECK(n.cores()[0].page_sizes == ((1U << 12) | (1U << 21)));
#endif
  CHECK(n.sharing(0, cache::l1_instruction) == id_set{0});
  CHECK(n.sharing(0, cache::l1_data) == id_set{0});
  CHECK(n.sharing(9, cache::l2) == id_set{8, 9, 10, 11});
  CHECK(n.sharing(9, cache::l3) == id_set::range(0, 16));
  CHECK(node::from_xml(own_machine("hbm.xml")).sharing(0, cache::l3).empty());
}

TEST_CASE("topology: where kinds of cores have no names, all but the last in hwloc's order are efficient") {
  auto const n = with_words("hybrid.xml", {{"IntelCore", "unknown"}, {"IntelAtom", "unknown"}});
  CHECK(n.nearby_cores(0, core_type::performance) == id_set::range(0, 8));
  CHECK(n.nearby_cores(0, core_type::efficiency) == id_set::range(8, 16));
}

TEST_CASE("topology: cores of unknown frequency count as fast as the fastest") {
  auto const n = with_words("hybrid.xml", {{"<info name=\"FrequencyMaxMHz\" value=\"3900\"/>", ""}});
  for (auto const& c : n.cores()) CHECK(c.relative_speed == 100);
}

TEST_CASE("topology: a kind of cores is what Intel's name for it says, whatever its place in hwloc's order") {
  auto const all_of = [](char const* from, char const* to, core_type type) {
    return with_words("hybrid.xml", {{from, to}}).nearby_cores(0, type) == id_set::range(0, 16);
  };
  CHECK(all_of("IntelAtom", "IntelCore", core_type::performance));
  CHECK(all_of("IntelCore", "IntelAtom", core_type::efficiency));
}

TEST_CASE("topology: a memory with a cache before it says how large that is") {
  auto text = text_of("one_core.xml");
  CHECK(node::from_xml_text(text).memories()[0].cache_bytes == 0);
  std::string const sets = "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
  replace(
      text, "<object type=\"NUMANode\"",
      "<object type=\"MemCache\" cache_size=\"1073741824\" depth=\"1\" cache_linesize=\"64\" cache_associativity=\"0\" "
      "cache_type=\"0\" gp_index=\"99\" " +
          sets + "><object type=\"NUMANode\"");
  replace(text, "<page_type size=\"2097152\" count=\"0\"/>\n      </object>", "</object></object>");
  auto const n = node::from_xml_text(text);
  REQUIRE(n.memories().size() == 1);
  CHECK(n.memories()[0].cache_bytes == std::uint64_t{1} << 30);
  CHECK(n.memories()[0].type == memory_type::cache_side);
}

TEST_CASE("topology: the slower of two cards of a type is told in per cent; one without a link counts as fast") {
  auto const slower = [&](std::string const& speed) {
    auto const n = with_words("gpus8_numa4.xml", {{"pci_link_speed=\"31.5\"", "pci_link_speed=\"" + speed + "\""}});
    int least = 100;
    for (auto const& d : n.devices()) least = std::min(least, d.relative_speed);
    return least;
  };
  CHECK(slower("31.5") == 100);
  CHECK(slower("15.75") == 50);
  CHECK(slower("0.63") == 2);
  CHECK(slower("0.0") == 100);
}

TEST_CASE("topology: memories say their kind and speed") {
  auto const n = node::from_xml(own_machine("hbm.xml"));
  CHECK(n.nearby_memories(0, memory_type::dram, 0, 1) == id_set{0});
  CHECK(n.nearby_memories(0, memory_type::high_bandwidth) == id_set{1, 3});
  CHECK(n.nearby_memories(0, memory_type::cxl) == id_set{4});
  CHECK(n.nearby_memories(0, memory_type::persistent) == id_set{5});
  int const speeds[]{100, 100, 100, 100, 25, 20}; // by the latency of the nearest cores
  for (auto const& m : n.memories()) CHECK(m.relative_speed == speeds[m.id]);
}

TEST_CASE("topology: memories equally many steps away are told apart by latency") {
  auto const n = node::from_xml(own_machine("latencies.xml")); // four packages in a ring; two memories without cores
  CHECK(n.unit_of_latencies() == latency_unit::relative);
  int const from_first[]{10, 16, 16, 40, 80}, from_third[]{22, 16, 16, 40, 80}; // whose memory is withheld
  int const distances_first[]{1, 2, 2, 4, 5}, distances_third[]{3, 2, 2, 4, 5};
  for (auto const& m : n.memories()) {
    CHECK(n.latency(0, m.id) == from_first[m.id]);
    CHECK(n.latency(4, m.id) == from_third[m.id]);
    CHECK(n.distance_to_memory(0, m.id) == distances_first[m.id]);
    CHECK(n.distance_to_memory(4, m.id) == distances_third[m.id]);
    CHECK(n.steps_to_memory(4, m.id) == 2);
  }
  CHECK(n.nearby_memories(4, memory_type::any, 2, 2) == id_set{1, 2});
  CHECK(n.nearby_memories(4, memory_type::any, 3, 4) == id_set{0, 3});
  CHECK(n.nearby_memories(4, memory_type::any, within{16}) == id_set{1, 2});
  CHECK(n.nearby_memories(4, memory_type::any, within{15}).empty());
  CHECK(n.nearby_memories(0, memory_type::dram, within{80}) == id_set{0, 1, 2, 3});
  CHECK(n.nearby_memories(0, memory_type::device, within{80}) == id_set{4});
  int const speeds[]{100, 100, 100, 25, 13};
  for (auto const& m : n.memories()) CHECK(m.relative_speed == speeds[m.id]);
  CHECK_THROWS_AS((void)n.latency(8, 0), keel::error);
  CHECK_THROWS_AS((void)n.latency(0, 5), keel::error);
  CHECK_THROWS_AS((void)n.nearby_memories(8, memory_type::any, within{10}), keel::error);
}

TEST_CASE("topology: attributes that tell every pair count in nanoseconds, and beat the matrix") {
  auto const n = node::from_xml(own_machine("attributes.xml"));
  CHECK(n.unit_of_latencies() == latency_unit::nanoseconds);
  int const latencies[]{90, 110, 140, 160}, bandwidths[]{200000, 800000, 80000, 90000};
  for (auto const& m : n.memories()) {
    CHECK(n.latency(1, m.id) == latencies[m.id]);
    CHECK(n.latency(2, m.id) == latencies[(m.id + 2) % 4]);
    CHECK(n.bandwidth(1, m.id) == bandwidths[m.id]);
    CHECK(m.relative_speed == (m.type == memory_type::dram ? 100 : 400)); // by bandwidth
  }
  CHECK(n.nearby_memories(0, memory_type::any, within{110}) == id_set{0, 1});
  CHECK(n.nearby_memories(0, memory_type::any, 0, 1) == id_set{0}); // the one that is faster is farther
  CHECK(n.nearby_memories(0, memory_type::any, 2, 2) == id_set{1});
}

TEST_CASE("topology: attributes that do not tell every pair leave the latencies to the matrix") {
  auto text = text_of("attributes.xml");
  auto const without = [&](std::string const& from, std::string const& to) {
    auto const at = text.find(from, text.find("<memattr name=\"Latency\""));
    REQUIRE(at != text.npos);
    text.erase(at, text.find(to, at) + to.size() - at);
  };
  without("    <memattr_value", "/>\n"); // from the first package to its first memory
  auto const relative = node::from_xml_text(text);
  CHECK(relative.unit_of_latencies() == latency_unit::relative);
  CHECK(relative.latency(0, 1) == 11);
  CHECK(relative.latency(2, 1) == 21);
  text.erase(text.find("  <distances2"), text.find("</distances2>\n") + 14 - text.find("  <distances2"));
  auto const some = node::from_xml_text(text);
  CHECK(some.unit_of_latencies() == latency_unit::nanoseconds);
  CHECK_FALSE(some.latency(0, 0).has_value());
  CHECK(some.latency(0, 2) == 140);
  CHECK(some.distance_to_memory(0, 0) == some.distance_to_memory(0, 1) + 1); // the unknown comes last
  auto const none = node::from_synthetic("package:2 numa:1 core:2 pu:1");
  CHECK(none.unit_of_latencies() == latency_unit::unknown);
  CHECK_FALSE(none.latency(0, 0).has_value());
  CHECK_FALSE(none.bandwidth(0, 0).has_value());
  CHECK(none.nearby_memories(0, memory_type::any, within{1000}).empty());
}

TEST_CASE("topology: a core has the latencies of its ordinary memory, also where a faster one comes first") {
  auto const n = with_words("attributes.xml",
                            {{"os_index=\"1\" subtype=\"HBM\"", "os_index=\"1\""},
                             {"os_index=\"0\" local", "os_index=\"0\" subtype=\"HBM\" local"},
                             {"<memattr name=\"Latency\" flags=\"6\">", "<memattr name=\"Other\" flags=\"6\">"}});
  REQUIRE(n.unit_of_latencies() == latency_unit::relative);
  int const latencies[]{11, 10, 21, 22};
  for (auto const& m : n.memories()) CHECK(n.latency(0, m.id) == latencies[m.id]);
}

TEST_CASE("topology: of two memories over the same cores each is used, and their latencies are unknown") {
  auto text = text_of("attributes.xml");
  for (int package = 0; package < 2; ++package) replace(text, " subtype=\"HBM\"", "");
  for (char const* name : {"Latency", "Bandwidth"})
    replace(text, "<memattr name=\"" + std::string{name}, "<memattr name=\"Other" + std::string{name});
  replace(text, "10 11 20 21 11 10 21 22 20 21 10 11 21 22 11 10", "10 21 31 31 21 10 31 31 31 31 10 21 31 31 21 10");
  auto const n = node::from_xml_text(text);
  id_set used;
  for (auto const& rank : n.place(4)) used.insert(rank.memory);
  CHECK(used == id_set{0, 1, 2, 3});
  CHECK_FALSE(n.latency(0, 0).has_value()); // 10 or 21
  CHECK_FALSE(n.latency(0, 1).has_value());
  CHECK(n.latency(0, 2) == 31);
  CHECK(n.distance_to_memory(0, 0) == n.distance_to_memory(0, 1));
  for (auto const& m : n.memories()) CHECK(m.relative_speed == 100);
}

TEST_CASE("topology: a memory of unknown bandwidth counts as fast as the first") {
  auto text = text_of("attributes.xml");
  for (int of_package = 0; of_package < 2; ++of_package) { // of the second memory, from each
    auto const from = text.find("    <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"4\"");
    REQUIRE(from < text.find("<memattr name=\"Latency\""));
    text.erase(from, text.find('\n', from) + 1 - from);
  }
  auto const n = node::from_xml_text(text);
  int const speeds[]{100, 100, 100, 400};
  for (auto const& m : n.memories()) CHECK(m.relative_speed == speeds[m.id]);
}

TEST_CASE("topology: a bandwidth of one unit is a bandwidth") {
  auto const speeds_with = [](std::string const& first, std::string const& others) {
    auto text = text_of("attributes.xml");
    for (char const* known : {"200000", "80000", "800000", "90000"}) {
      std::string const value = "value=\"" + std::string{known} + '"';
      for (auto at = text.find(value); at != text.npos; at = text.find(value)) {
        bool const is_of_first = text.rfind("gp_index=\"3\"", at) + 20 > at;
        text.replace(at, value.size(), "value=\"" + (is_of_first ? first : others) + '"');
      }
    }
    std::vector<int> speeds;
    auto const n = node::from_xml_text(text);
    for (auto const& m : n.memories()) speeds.push_back(m.relative_speed);
    return speeds;
  };
  CHECK(speeds_with("4", "1") == std::vector{100, 25, 25, 25});
  CHECK(speeds_with("1", "3") == std::vector{100, 300, 300, 300});
}

TEST_CASE("topology: a file is read to its last byte, wherever its blocks end") {
  auto text = text_of("one_core.xml");
  while (text.back() == '\n') text.pop_back();
  std::string const before = "\n<info name=\"Filler\" value=\"", behind = "\"/>";
  std::string const filler((std::size_t{1} << 16) + 1 - text.size() - before.size() - behind.size(), '-');
  text.insert(text.find('>', text.find("<object")) + 1, before + filler + behind);
  keel::test::folder const f{"keel-xml-blocks"};
  std::ofstream{f.path / "it.xml", std::ios::binary} << text;
  REQUIRE(std::filesystem::file_size(f.path / "it.xml") == 65537);
  CHECK(node::from_xml(f.path / "it.xml").cores().size() == 1);
}

TEST_CASE("topology: the fastest card of its type has full speed, however slow it is") {
  auto const n = with_words("interfaces.xml", {{"pci_link_speed=\"7.9\"", "pci_link_speed=\"0.5\""}});
  CHECK(n.devices()[3].type == device_type::storage);
  CHECK(n.devices()[3].relative_speed == 100);
}

TEST_CASE("topology: a device at the place of the only core is near it without a range") {
  auto const n = with_words(
      "one_core.xml",
      {{"\n  </object>\n</topology>",
        "\n    <object type=\"OSDev\" gp_index=\"9\" name=\"eth0\" osdev_type=\"2\"/>\n  </object>\n</topology>"}});
  REQUIRE(n.devices().size() == 1);
  CHECK(n.distance_to_device(0, 0) == 0);
  CHECK(n.nearby_devices(0) == id_set{0});
  CHECK(n.nearby_memories(0) == id_set{0});
}

TEST_CASE("topology: on every machine distances follow steps and latencies, and what is farther is not faster") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    keel::laws::latencies(node::from_xml(file));
  }
}

TEST_CASE("topology: the latency of a core is that of the matrix, from its own node") {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    keel::test::walk const oracle{file};
    for (auto const& c : n.cores())
      for (auto const& m : n.memories()) {
        auto const told = oracle.latency(oracle.cores()[std::size_t(c.id)], oracle.memories()[std::size_t(m.id)]);
        if (n.unit_of_latencies() == latency_unit::relative) REQUIRE(n.latency(c.id, m.id).value_or(0) == told);
        if (n.unit_of_latencies() == latency_unit::unknown) REQUIRE(told == 0);
      }
  }
}

TEST_CASE("topology: memory of a GPU is of a type of its own") {
  auto const n = node::from_xml(own_machine("latencies.xml"));
  CHECK(n.memories()[4].type == memory_type::device);
  CHECK(n.memories()[3].type == memory_type::dram);
  CHECK_FALSE(n.nearby_memories(0, memory_type::dram).contains(4));
}

TEST_CASE("topology: what the system withholds is listed apart and never among the cores") {
  auto const n = node::from_xml(own_machine("restricted.xml"));
  CHECK(n.withheld_memories() == id_set{1});
  CHECK(to_string(n.withheld_hardware_threads()) == "0-3,8-11,24-31");
  for (auto const& c : n.cores()) CHECK((c.hardware_threads & n.withheld_hardware_threads()).empty());
}

TEST_CASE("topology: this machine has a core, and all is near it") {
  auto const n = node::here();
  REQUIRE_FALSE(n.cores().empty());
  CHECK(n.nearby_cores(0).size() == n.cores().size());
  CHECK(n.nearby_memories(0).size() == n.memories().size());
  CHECK_FALSE(n.source().empty());
  if (n.is_this_machine() && !n.memories().empty())
    CHECK((n.cores()[0].page_sizes & std::uint64_t(sysconf(_SC_PAGESIZE))) != 0);
}

TEST_CASE("topology: a text in which hwloc would lose an attribute, or miscount a set, is refused") {
  auto const good = text_of("hbm.xml");
  auto const changed = [&](std::string const& from, std::string const& to) {
    std::string text = good;
    REQUIRE(text.find(from) != std::string::npos);
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK_FALSE(node::from_xml_text(good).cores().empty());
  CHECK(refuses([&] { (void)node::from_xml_text(changed("local_memory=\"137438953472\"", "local_memory=\"-1\"")); },
                "local_memory that is none"));
  CHECK(refuses([&] { (void)node::from_xml_text(changed("\" complete_cpuset", "\"\rcomplete_cpuset")); }, "malformed"));
  CHECK(refuses([&] { (void)node::from_xml_text(changed("nodeset=\"0x", "nodeset=\",0x")); }, "nodeset that is none"));
  CHECK(refuses(
      [&] {
        (void)node::from_xml_text(changed("</topology>", "<memattr name=\"Capacity\" flags=\"1\"><memattr_value "
                                                         "initiator_cpuset=\",0x1\"/></memattr></topology>"));
      },
      "initiator_cpuset that is none"));
  // Its own reader ends an attribute's name before a capital or a digit, and a value before an entity that it does not
  // know; the element at the first `>`, and a header at the end of its line.
  for (std::string const name : {"A", "online_cpAset", "cpu2set", "a-b"}) {
    CAPTURE(name);
    CHECK(refuses(
        [&] { (void)node::from_xml_text(changed("\" complete_cpuset", "\" " + name + "=\"0x1\" complete_cpuset")); },
        "malformed"));
  }
  for (std::string const value : {"a>b", "a&b", "&apos;", "&#x41;", "&", "&#10", "&quot;&nbsp;"}) {
    CAPTURE(value);
    CHECK(refuses(
        [&] { (void)node::from_xml_text(changed("\" complete_cpuset", "\" name=\"" + value + "\" complete_cpuset")); },
        "malformed"));
  }
  CHECK_FALSE(node::from_xml_text(changed("</topology>", "<info name=\"&#10;&#13;&#9;&quot;&lt;&gt;&amp;\" "
                                                         "value=\"&amp;&amp;\"/></topology>"))
                  .cores()
                  .empty());
  for (auto const& pair :
       {std::pair{"UTF-8\"?>\n", "UTF\n<object>?>\n"}, std::pair{"<object", "<!--<object> -->\n<object"}})
    CHECK(refuses([&] { (void)node::from_xml_text(changed(pair.first, pair.second)); }, "contains an element"));
}

#if HWLOC_API_VERSION < 0x00030000
TEST_CASE("topology: of hwloc 1, a NUMA node may be the root, and a withheld one keeps its cores") {
  auto const rooted = node::from_xml(own_machine("hwloc1_node_root.xml"));
  CHECK(rooted.nearby_memories(3, memory_type::dram, 0, 2) == id_set{0});
  CHECK(rooted.distance_to_core(0, 1) == 1);
  CHECK(rooted.distance_to_core(0, 2) == 2);
  auto const cut = node::from_xml(own_machine("hwloc1_withheld.xml"));
  CHECK(cut.memories()[1].os_index == 2);
  CHECK(cut.cores()[3].hardware_threads == id_set{3});
  CHECK(cut.distance_to_memory(0, 0) < cut.distance_to_memory(2, 0));
}

TEST_CASE("topology: of hwloc 1, a NUMA node as the root without a set is refused: hwloc frees it twice") {
  auto const good = text_of("hwloc1_node_root.xml");
  for (char const* lost : {"cpuset", "complete_cpuset", "nodeset", "complete_nodeset", "os_index", "type"}) {
    CAPTURE(lost);
    std::string text = good;
    text.replace(text.find(std::string{" "} + lost + "="), 1 + std::strlen(lost), " lost");
    CHECK_THROWS_AS((void)node::from_xml_text(text), keel::error);
  }
  for (char const* before : {" online_cpAset=\"0x0000000f\"", " name=\"&apos;\"", " name=\"a>b\""}) {
    CAPTURE(before);
    std::string text = good;
    text.insert(text.find(" complete_cpuset="), before);
    CHECK_THROWS_AS((void)node::from_xml_text(text), keel::error);
  }
}

TEST_CASE("topology: of hwloc 1, nodesets in an object without one are refused") {
  auto text = text_of("hwloc1_withheld.xml");
  text.erase(text.find(" nodeset="), text.find(" allowed_nodeset=") - text.find(" nodeset=")); // of the Machine
  CHECK(refuses([&] { (void)node::from_xml_text(text); }, "has a nodeset that what holds it has not"));
}
#endif

TEST_CASE("topology: without a range all devices are near, and a lack of memory long ago is not told again") {
  CHECK(node::from_xml(own_machine("gpus8_numa4.xml")).nearby_devices(0) == id_set::range(0, 12));
  keel::test::walk const keeps_plugins_loaded{own_machine("one_core.xml")}; // to load them changes errno
  for (std::string const& none : {std::string{"no machine"}, std::string(5000, ' ')}) {
    errno = ENOMEM;
    CHECK(refuses([&] { (void)node::from_synthetic(none); }, "does not understand"));
  }
}

TEST_CASE("topology: a card has no contexts where their number is none") {
  auto const good = text_of("contexts.xml");
  std::string const four = "name=\"Contexts\" value=\"4\"";
  for (auto const& pair :
       {std::pair{"7", 7}, {"0", 0}, {"-3", 0}, {"x", 0}, {"", 0}, {"12345", 12345}, {"123456", 0}}) {
    std::string const text = pair.first;
    CAPTURE(text);
    std::string changed = good;
    changed.replace(changed.find(four), four.size(), "name=\"Contexts\" value=\"" + text + "\"");
    CHECK(node::from_xml_text(changed).devices()[0].contexts == pair.second);
  }
}

TEST_CASE("topology: hwloc's variables win, and a bad one is an error, never the real machine") {
  setenv("HWLOC_SYNTHETIC", "package:3 core:5 pu:1", 1);
  CHECK(node::here().cores().size() == 15);
  CHECK_FALSE(node::here().is_this_machine());
  setenv("HWLOC_SYNTHETIC", "no such thing", 1);
  CHECK(refuses([] { (void)node::here(); }, "HWLOC_SYNTHETIC=no such thing is not a topology"));
  unsetenv("HWLOC_SYNTHETIC");
  setenv("HWLOC_XMLFILE", own_machine("cores96.xml").c_str(), 1);
  CHECK(node::here().cores().size() == 96);
  CHECK(node::from_xml(own_machine("one_core.xml")).cores().size() == 1); // what is asked for by name is not replaced
  setenv("HWLOC_XMLFILE", "/no/such/file", 1);
  CHECK(refuses([] { (void)node::here(); }, "HWLOC_XMLFILE=/no/such/file cannot be read"));
  unsetenv("HWLOC_XMLFILE");
  setenv("HWLOC_FSROOT", "/no/such/folder", 1);
  CHECK(refuses([] { (void)node::here(); }, "HWLOC_FSROOT=/no/such/folder cannot be used"));
  unsetenv("HWLOC_FSROOT");
  setenv("HWLOC_COMPONENTS", "-opencl,no_such_thing", 1);
  CHECK(refuses([] { (void)node::here(); }, "hwloc has no component 'no_such_thing'"));
  unsetenv("HWLOC_COMPONENTS");
  CHECK_FALSE(node::here().cores().empty());
}

TEST_CASE("topology: a card of no class that a vendor's library of GPUs knows is a GPU") {
  std::string const known_as = "subtype=\"MIC\"";
  auto const type_of = [&](std::string const& subtype) {
    std::string changed = keel::test::content(own_machine("accelerators.xml"));
    std::string const bus_says = "pci_type=\"0b40"; // a processor; then the interface is not asked
    changed.replace(changed.find(bus_says), bus_says.size(), "pci_type=\"0000");
    changed.replace(changed.find(known_as), known_as.size(), "subtype=\"" + subtype + "\"");
    keel::test::folder const here;
    std::ofstream{here / "subtype.xml"} << changed;
    auto const n = node::from_xml(here / "subtype.xml");
    for (auto const& d : n.devices())
      if (d.pci_id == "0000:04:00.0") return d.type;
    return keel::topology::device_type::other;
  };
  for (char const* library : {"CUDA", "NVML", "RSMI", "LevelZero"}) {
    CAPTURE(library);
    CHECK(type_of(library) == keel::topology::device_type::gpu);
  }
  CHECK(type_of("MIC") == keel::topology::device_type::coprocessor);
}
