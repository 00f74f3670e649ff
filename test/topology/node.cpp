// SPDX-License-Identifier: MIT
#include <keel/impl/topology/cards.hpp>
#include <keel/topology/node.hpp>

#include <laws/topology.hpp>
#include <support/folder.hpp>
#include <support/test.hpp>

#include "record.hpp"
#include "saved.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

using namespace keel::topology;
using keel::test::message_of, keel::test::own_machine, keel::test::refuses;

namespace {

/// What a line says after its sign, with the ends of lines that it writes.
std::string words_of(std::string const& line, std::size_t sign) {
  auto said = line.substr(std::min(sign + 1, line.size())); // and a space
  for (auto const& [written, meant] : {std::pair{"\\n", "\n"}, std::pair{"\\r", "\r"}})
    for (auto at = said.find(written); at != said.npos; at = said.find(written)) said.replace(at, 2, meant);
  return said;
}

void replace(std::string& text, std::string const& from, std::string const& to, bool everywhere) {
  auto at = text.find(from);
  REQUIRE(at != text.npos);
  for (; at != text.npos; at = everywhere ? text.find(from, at + to.size()) : text.npos)
    text.replace(at, from.size(), to);
}

/// Calls `f(node)` with every machine that is there.
void on_every_machine(auto const& f) {
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    f(node::from_xml(file));
  }
}

/// All that an enumeration has but `any`, which is the first.
template <class Type>
std::vector<Type> types_to(Type last) {
  std::vector<Type> made;
  for (int t = 1; t <= int(last); ++t) made.push_back(Type(t));
  return made;
}

} // namespace

TEST_CASE("topology: of the project's machines keel says what is on record") {
  std::string lines;
  for (auto const& name : keel::test::own_machines()) {
    auto const n = node::from_xml(own_machine(name));
    CHECK_FALSE(n.is_this_machine());
    for (auto const& fact : keel::test::facts(n)) lines += name + ' ' + fact + '\n';
  }
  keel::test::check_record("nodes.txt", lines);
}

TEST_CASE("topology: other machines have the memories, cores and devices that a person counted in them") {
  auto const folder = keel::test::other_machines_folder();
  for (auto const& m : keel::test::other_machines) {
    if (folder.empty()) continue;
    CAPTURE(m.file);
    auto const n = node::from_xml(folder / m.file);
    CHECK(n.memories().size() == std::size_t(m.memories));
    CHECK(n.cores().size() == std::size_t(m.cores));
    CHECK(n.devices().size() == std::size_t(m.devices));
    auto const is_gpu = [](device const& d) { return d.type == device_type::gpu; };
    CHECK(std::count_if(n.devices().begin(), n.devices().end(), is_gpu) == m.gpus);
  }
}

TEST_CASE("topology: of changed texts keel says what test/data/changes.txt has, or refuses them") {
  std::ifstream file{own_machine("changes.txt")};
  REQUIRE(file.good());
  std::string why, machine, text, from;
  bool everywhere = false;
  auto const read = [&] { return text.empty() ? node::from_synthetic(machine) : node::from_xml_text(text); };
  for (std::string line; std::getline(file, line);) {
    CAPTURE(why);
    CAPTURE(machine);
    CAPTURE(line);
    bool const is_read = HWLOC_API_VERSION < 0x00030000 || !machine.starts_with("hwloc1_");
    char const sign = line.empty() ? '#' : line.front();
    if (sign == '#') {
      why = line;
    } else if (sign == '-') {
      everywhere = line.starts_with("-*");
      from = words_of(line, everywhere ? 2 : 1);
    } else if (sign == '+') {
      replace(text, from, words_of(line, 1), everywhere);
    } else if (sign == '!') {
      if (is_read) CHECK(refuses([&] { (void)read(); }, words_of(line, 1)));
    } else if (sign == '=') {
      auto const facts = keel::test::facts(read());
      if (std::find(facts.begin(), facts.end(), words_of(line, 1)) == facts.end())
        for (auto const& fact : facts) MESSAGE(fact);
      CHECK(std::find(facts.begin(), facts.end(), words_of(line, 1)) != facts.end());
    } else {
      machine = line;
      text = machine.ends_with(".xml") ? keel::test::content(own_machine(machine)) : "";
    }
  }
}

TEST_CASE("topology: nearness keeps its laws for every core of every machine") {
  on_every_machine([](node const& n) {
    int const cores = int(n.cores().size());
    keel::laws::nearness(cores, n.cores().size(), types_to(core_type::efficiency), core_type::any,
                         [&](int c, core_type t, int a, int b) { return n.nearby_cores(c, t, a, b); });
    keel::laws::nearness(cores, n.memories().size(), types_to(memory_type::cache_side), memory_type::any,
                         [&](int c, memory_type t, int a, int b) { return n.nearby_memories(c, t, a, b); });
    keel::laws::nearness(cores, n.devices().size(), types_to(device_type::other), device_type::any,
                         [&](int c, device_type t, int a, int b) { return n.nearby_devices(c, t, a, b); });
  });
}

TEST_CASE("topology: steps can be compared between the cores of every machine, and what is farther is not faster") {
  on_every_machine([](node const& n) {
    int const cores = int(n.cores().size());
    auto const between = [&](int a, int b) { return n.distance_to_core(a, b); };
    keel::laws::steps_compare(cores, cores, between, between);
    keel::laws::steps_compare(cores, int(n.memories().size()), between,
                              [&](int c, int m) { return n.steps_to_memory(c, m); });
    keel::laws::steps_compare(cores, int(n.devices().size()), between,
                              [&](int c, int d) { return n.distance_to_device(c, d); });
    keel::laws::latencies(n);
  });
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
  CHECK(refuses([&] { (void)n.nearby_cores(0, core_type::any, 3, 2); }, "between 3 and 2"));
  CHECK_THROWS_AS((void)n.distance_to_memory(0, 1), keel::error);
  CHECK_THROWS_AS((void)n.sharing(7, cache::l2), keel::error);
  auto const five = node::from_xml(own_machine("latencies.xml"));
  CHECK_THROWS_AS((void)five.latency(8, 0), keel::error);
  CHECK_THROWS_AS((void)five.latency(0, 5), keel::error);
  CHECK_THROWS_AS((void)five.nearby_memories(8, memory_type::any, within{10}), keel::error);
}

TEST_CASE("topology: memories within a latency are asked for by type, too") {
  auto const n = node::from_xml(own_machine("latencies.xml"));
  CHECK(n.nearby_memories(4, memory_type::any, within{16}) == id_set{1, 2});
  CHECK(n.nearby_memories(0, memory_type::dram, within{80}) == id_set{0, 1, 2, 3});
  CHECK(n.nearby_memories(0, memory_type::device, within{80}) == id_set{4});
  CHECK(node::from_synthetic("numa:2 core:2 pu:1").nearby_memories(0, memory_type::any, within{1000}).empty());
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

TEST_CASE("topology: a file is read to its last byte, wherever its blocks end") {
  auto text = keel::test::content(own_machine("one_core.xml"));
  while (text.back() == '\n') text.pop_back();
  std::string const before = "\n<info name=\"Filler\" value=\"", behind = "\"/>";
  std::string const filler((std::size_t{1} << 16) + 1 - text.size() - before.size() - behind.size(), '-');
  text.insert(text.find('>', text.find("<object")) + 1, before + filler + behind);
  keel::test::folder const f{"keel-xml-blocks"};
  std::ofstream{f.path / "it.xml", std::ios::binary} << text;
  REQUIRE(std::filesystem::file_size(f.path / "it.xml") == 65537);
  CHECK(node::from_xml(f.path / "it.xml").cores().size() == 1);
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

TEST_CASE("topology: a lack of memory long ago is not told again") {
  hwloc_topology_t keeps_plugins_loaded{}; // to load them changes errno
  REQUIRE(hwloc_topology_init(&keeps_plugins_loaded) == 0);
  for (std::string const& none : {std::string{"no machine"}, std::string(5000, ' ')}) {
    errno = ENOMEM;
    CHECK(refuses([&] { (void)node::from_synthetic(none); }, "does not understand"));
  }
  hwloc_topology_destroy(keeps_plugins_loaded);
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
  CHECK_FALSE(node::here().cores().empty());
}
