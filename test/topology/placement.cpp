// SPDX-License-Identifier: MIT
#include <keel/topology/placement.hpp>

#include <keel/impl/topology/place.hpp>
#include <keel/topology/node.hpp>

#include "saved.hpp"
#include "walk.hpp"

#include <doctest/doctest.h>
#include <support/folder.hpp>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace keel::topology;
using keel::test::own_machine;

namespace {

int nearest(keel::test::walk const& oracle, id_set const& cores, hwloc_obj_t target) {
  int least = INT_MAX;
  for (int const c : cores) least = std::min(least, oracle.distance(oracle.cores()[std::size_t(c)], target));
  return least;
}

/// Every core is used; none by two ranks before all have one; hardware threads neither.
void check_cores(node const& n, std::vector<placement> const& ranks) {
  std::vector<int> users(n.cores().size(), 0);
  std::vector<int> thread_users;
  std::size_t threads = 0, largest = 0;
  for (auto const& c : n.cores()) threads += c.hardware_threads.size();
  for (auto const& rank : ranks) {
    REQUIRE_FALSE(rank.cores.empty());
    REQUIRE_FALSE(rank.hardware_threads.empty());
    largest = std::max(largest, rank.cores.size());
    id_set of_cores;
    for (int const c : rank.cores) {
      ++users[std::size_t(c)];
      of_cores |= n.cores()[std::size_t(c)].hardware_threads;
    }
    CHECK((rank.hardware_threads - of_cores).empty());
    for (int const t : rank.hardware_threads) {
      if (thread_users.size() <= std::size_t(t)) thread_users.resize(std::size_t(t) + 1, 0);
      ++thread_users[std::size_t(t)];
    }
  }
  CHECK(*std::min_element(users.begin(), users.end()) >= 1);
  if (ranks.size() <= users.size()) CHECK(*std::max_element(users.begin(), users.end()) == 1);
  CHECK(largest <= 2 * ((users.size() + ranks.size() - 1) / ranks.size())); // memories are never parted to be fair
  auto const most = *std::max_element(thread_users.begin(), thread_users.end());
  CHECK(std::size_t(most) <= (ranks.size() + threads - 1) / threads);
  for (auto const& c : n.cores()) // every one is used, evenly
    for (int const t : c.hardware_threads)
      CHECK(std::size_t(thread_users.at(std::size_t(t))) >= ranks.size() / threads);
}

/// The nearest ordinary memory; the nearest GPU that no rank nearer to it could have.
void check_against_hwloc(node const& n, keel::test::walk const& oracle, std::vector<placement> const& ranks) {
  std::vector<int> users(n.devices().size(), 0);
  for (auto const& rank : ranks)
    if (rank.device >= 0) ++users[std::size_t(rank.device)];
  auto const device_at = [&](int d) {
    return oracle.device(n.devices()[std::size_t(d)].pci_id, n.devices()[std::size_t(d)].name);
  };
  int least = INT_MAX, most = 0;
  for (auto const& d : n.devices()) {
    if (d.contexts > 0) CHECK(users[std::size_t(d.id)] <= d.contexts);
    if (d.type == device_type::gpu && d.contexts == 0) {
      least = std::min(least, users[std::size_t(d.id)]);
      most = std::max(most, users[std::size_t(d.id)]);
    }
  }
  if (least != INT_MAX) CHECK(most - least <= 1); // every one is used before one is used again
  for (auto const& rank : ranks) {
    int best = INT_MAX;
    for (auto const& m : n.memories())
      if (m.type == memory_type::dram || m.type == memory_type::cache_side)
        best = std::min(best, nearest(oracle, rank.cores, oracle.memories()[std::size_t(m.id)]));
    if (rank.memory >= 0) CHECK(nearest(oracle, rank.cores, oracle.memories()[std::size_t(rank.memory)]) == best);
    else CHECK(n.memories().empty());
    if (rank.device < 0) continue;
    CHECK(n.devices()[std::size_t(rank.device)].type == device_type::gpu);
    int const steps = nearest(oracle, rank.cores, device_at(rank.device));
    for (auto const& d : n.devices()) // no nearer one stayed free
      if (d.type == device_type::gpu && nearest(oracle, rank.cores, device_at(d.id)) < steps)
        CHECK(users[std::size_t(d.id)] >= (d.contexts > 0 ? d.contexts
                                           : n.devices()[std::size_t(rank.device)].contexts > 0
                                               ? 1
                                               : users[std::size_t(rank.device)]));
  }
}

} // namespace

TEST_CASE("topology: ranks get near, balanced places, and none shares before it must") {
  for (auto const& file : keel::test::all_machines())
    for (int const ranks : {1, 2, 3, 4, 8, 16, 20, 64, 100, 500}) {
      CAPTURE(file);
      CAPTURE(ranks);
      auto const n = node::from_xml(file);
      auto const placed = n.place(ranks);
      REQUIRE(placed.size() == std::size_t(ranks));
      check_cores(n, placed);
      if (ranks <= 64) check_against_hwloc(n, keel::test::walk{file}, placed);
    }
}

TEST_CASE("topology: the maps of the project's machines are those on record") {
  std::string maps; // a line for each machine and number of ranks; cores/memory/device of each rank
  for (auto const& m : keel::test::own_machines)
    for (int const ranks : {1, 2, 4, 8, 16, 64}) {
      maps += m.file + (' ' + std::to_string(ranks)) + ':';
      for (auto const& p : node::from_xml(own_machine(m.file)).place(ranks))
        maps += ' ' + to_string(p.cores) + '/' + std::to_string(p.memory) + '/' + std::to_string(p.device);
      maps += '\n';
    }
  if (char const* const record = std::getenv("KEEL_TEST_RECORD"); record != nullptr) std::ofstream{record} << maps;
  std::ifstream file{own_machine("maps.txt")};
  std::istringstream now{maps};
  int lines = 0;
  for (std::string expected, found; std::getline(file, expected); ++lines) {
#if HWLOC_API_VERSION >= 0x00030000
    if (expected.starts_with("hwloc1_")) {
      --lines;
      continue;
    }
#endif
    REQUIRE(std::getline(now, found));
    CHECK(found == expected);
  }
  CHECK(lines == 6 * int(std::size(keel::test::own_machines)));
}

TEST_CASE("topology: ranks are cut along the tree") {
  auto const n = node::from_xml(own_machine("gpus8_numa4.xml"));
  auto const eight = n.place(8);
  for (int r = 0; r < 8; ++r) {
    CHECK(eight[std::size_t(r)].cores == id_set::range(4 * r, 4 * r + 4));
    CHECK(eight[std::size_t(r)].memory == r / 2);
  }
  int const gpus[]{0, 1, 3, 4, 6, 7, 9, 10}; // each its own
  for (int r = 0; r < 8; ++r) CHECK(eight[std::size_t(r)].device == gpus[r]);
  auto const three = n.place(3); // two NUMA nodes of one package, and the other package
  CHECK(three[0].cores == id_set::range(0, 8));
  CHECK(three[1].cores == id_set::range(8, 16));
  CHECK(three[2].cores == id_set::range(16, 32));
}

TEST_CASE("topology: ranks that share a memory have equally many cores, give or take one") {
  auto const n = node::from_xml(own_machine("cores96.xml")); // 12 parts with a cache each, one memory
  for (int const ranks : {2, 3, 5, 7, 8, 24, 50, 95, 96}) {
    CAPTURE(ranks);
    for (auto const& p : n.place(ranks)) {
      CHECK(p.cores.size() >= std::size_t(96 / ranks));
      CHECK(p.cores.size() <= std::size_t((96 + ranks - 1) / ranks));
    }
  }
}

TEST_CASE("topology: a memory with too few cores for a rank goes to the neighbour on its side of the border") {
  auto const n = node::from_synthetic("numa:3 core:4 pu:1");
  auto const two = [&](id_set const& within) {
    auto const placed = n.place(2, {.within = within});
    return std::pair{placed[0].cores, placed[1].cores};
  };
  CHECK(two({0, 1, 2, 3, 5, 8, 9, 10, 11}) == std::pair{id_set{0, 1, 2, 3, 5}, id_set{8, 9, 10, 11}}); // on the border
  CHECK(two({1, 2, 3, 5, 8, 9, 10, 11}) == std::pair{id_set{1, 2, 3, 5}, id_set{8, 9, 10, 11}});
  CHECK(two({0, 1, 2, 3, 6, 8, 9, 11}) == std::pair{id_set{0, 1, 2, 3}, id_set{6, 8, 9, 11}});
  CHECK(two({1, 4, 5, 6, 8, 9, 10}) == std::pair{id_set{1, 4, 5, 6}, id_set{8, 9, 10}}); // the first of all
  CHECK(two({0, 1, 2, 4, 5, 6, 11}) == std::pair{id_set{0, 1, 2}, id_set{4, 5, 6, 11}}); // the last of all
}

TEST_CASE("topology: a device serves as many ranks as it has contexts before a far one is taken or one doubled") {
  auto const n = node::from_xml(
      own_machine("contexts.xml")); // GPUs with 4 and 2 contexts on the first side, one that says nothing
  auto const users_with = [&](int ranks, placing const& rule) {
    std::vector<int> users(5, 0); // the last of none
    for (auto const& p : n.place(ranks, rule)) ++users[std::size_t(p.device < 0 ? 4 : p.device)];
    return users;
  };
  using list = std::vector<int>;
  placing const first_side{.within = id_set::range(0, 4)};
  CHECK(users_with(2, first_side) == list{1, 1, 0, 0, 0}); // equally near: the least used
  CHECK(users_with(4, first_side) == list{2, 2, 0, 0, 0});
  CHECK(users_with(6, first_side) == list{4, 2, 0, 0, 0}); // all near ones before the far one
  CHECK(users_with(7, first_side) == list{4, 2, 1, 0, 0});
  CHECK(users_with(9, first_side) == list{4, 2, 3, 0, 0}); // only the one that says nothing is doubled
  CHECK(users_with(8, {}) == list{4, 2, 2, 0, 0});         // none is doubled while another has a context left
  CHECK(users_with(5, {.device = device_type::network}) == list{0, 0, 0, 3, 2}); // those left over have none
  CHECK(users_with(3, {.order = order::by_device}) == list{1, 1, 1, 0, 0});
  CHECK(users_with(9, {.order = order::by_device}) == list{4, 2, 3, 0, 0}); // equally many as far as contexts go
  CHECK(users_with(3, {.order = order::by_device, .device = device_type::network}) == list{0, 0, 0, 3, 0});
  CHECK_THROWS_AS((void)users_with(4, {.order = order::by_device, .device = device_type::network}), keel::error);
}

TEST_CASE("topology: with more ranks than cores, hardware threads count") {
  auto const n = node::from_xml(own_machine("hybrid.xml")); // 8 cores with two threads, 8 with one
  auto const placed = n.place(24);
  id_set used;
  for (auto const& rank : placed) {
    CHECK(rank.hardware_threads.size() == 1);
    used |= rank.hardware_threads;
  }
  CHECK(used.size() == 24);
}

TEST_CASE("topology: a rank without a memory of its own gets the one with the shortest latency") {
  auto const n = node::from_xml(own_machine("latencies.xml")); // the third package's memory is withheld
  CHECK(n.place(1, {.within = id_set{4, 5}})[0].memory == 1);  // not the first, which is as many steps away
  int const memories[]{0, 1, 2, 2};                            // of equally near ones that which no rank has
  for (int r = 0; r < 4; ++r) CHECK(n.place(4)[std::size_t(r)].memory == memories[r]);
}

TEST_CASE("topology: a memory that is near no core is farther away than all others") {
  struct {
    char const *machine, *cores; // those that are left
    id_set own;                  // memories that still have some
  } const cases[]{{"numa:2 core:4 pu:1", "0x0f", {0}},
                  {"numa:2 core:4 pu:1", "0xf0", {1}},
                  {"pack:2 numa:2 core:2 pu:1", "0x3", {0}},
                  {"numa:3 core:2 pu:2", "0x0ff", {0, 1}}};
  keel::test::folder const here;
  for (auto const& c : cases) {
    CAPTURE(c.machine);
    CAPTURE(c.cores);
    hwloc_topology_t all = nullptr;
    hwloc_topology_init(&all);
    hwloc_topology_set_synthetic(all, c.machine);
    REQUIRE(hwloc_topology_load(all) == 0);
    hwloc_bitmap_t const left = hwloc_bitmap_alloc();
    hwloc_bitmap_sscanf(left, c.cores);
    REQUIRE(hwloc_topology_restrict(all, left, 0) == 0); // as where a job has cores of one socket
    hwloc_bitmap_free(left);
    auto const file = here.path / "left.xml";
    REQUIRE(hwloc_topology_export_xml(all, file.c_str(), 0) == 0);
    hwloc_topology_destroy(all);
    auto const n = node::from_xml(file);
    for (auto const& core : n.cores())
      for (auto const& m : n.memories()) {
        if (c.own.contains(m.os_index)) continue;
        for (auto const& near : n.memories())
          if (c.own.contains(near.os_index))
            CHECK(n.distance_to_memory(core.id, near.id) < n.distance_to_memory(core.id, m.id));
      }
    for (int const ranks : {1, 2, 3, 4, 8})
      for (auto const& p : n.place(ranks)) CHECK(c.own.contains(n.memories()[std::size_t(p.memory)].os_index));
  }
}

TEST_CASE("topology: fewer than one rank is refused") {
  CHECK_THROWS_AS((void)node::from_synthetic("core:2 pu:1").place(0), keel::error);
  CHECK_THROWS_AS((void)node::from_synthetic("core:2 pu:1").place(-3), keel::error);
}

TEST_CASE("topology: compact ranks stand next to each other, one core each") {
  auto const n = node::from_xml(own_machine("restricted.xml")); // 8 cores of two threads
  auto const rule = placing{.order = order::compact};
  auto const three = n.place(3, rule);
  for (int r = 0; r < 3; ++r) CHECK(three[std::size_t(r)].cores == id_set{r});
  for (int const ranks : {8, 11, 16, 33}) {
    CAPTURE(ranks);
    check_cores(n, n.place(ranks, rule));
  }
  auto const eleven = n.place(11, rule); // the first three cores are filled first
  CHECK(eleven[5].cores == id_set{2});
  CHECK(eleven[6].cores == id_set{3});
}

TEST_CASE("topology: by_device keeps ranks on the cores near their device, and uses devices evenly") {
  auto const one_side = node::from_xml(own_machine("gpus_one_side.xml"));
  auto const three = one_side.place(3, {.order = order::by_device});
  for (int r = 0; r < 3; ++r) {
    CHECK(three[std::size_t(r)].cores == id_set::range(6 + 2 * r, 8 + 2 * r));
    CHECK(three[std::size_t(r)].device == r);
    CHECK(three[std::size_t(r)].memory == 1);
  }
  auto const eight = node::from_xml(own_machine("gpus8_numa4.xml"));
  for (int const ranks : {1, 2, 3, 4, 8, 16, 24, 64}) {
    CAPTURE(ranks);
    auto const placed = eight.place(ranks, {.order = order::by_device});
    std::vector<int> users(eight.devices().size(), 0);
    for (auto const& p : placed) {
      REQUIRE(p.device >= 0);
      ++users[std::size_t(p.device)];
      for (int const c : p.cores) CHECK(eight.distance_to_device(c, p.device) == 1);
    }
    for (auto const& d : eight.devices())
      if (d.type == device_type::gpu) {
        CHECK(users[std::size_t(d.id)] <= (ranks + 7) / 8);
        CHECK(users[std::size_t(d.id)] >= ranks / 8);
      } else {
        CHECK(users[std::size_t(d.id)] == 0);
      }
  }
  auto const by_network = eight.place(4, {.order = order::by_device, .device = device_type::network});
  for (int r = 0; r < 4; ++r) CHECK(by_network[std::size_t(r)].device == 3 * r + 2);
}

TEST_CASE("topology: by_device gives each rank cores and a device, wherever on a machine that is") {
  CHECK(placement{}.memory == -1);
  CHECK(placement{}.device == -1);
  for (auto const& file : keel::test::all_machines()) {
    CAPTURE(file);
    auto const n = node::from_xml(file);
    if (n.devices().empty()) continue;
    for (auto const& p : n.place(2, {.order = order::by_device, .device = device_type::any})) {
      CHECK_FALSE(p.cores.empty());
      CHECK(p.device >= 0);
    }
  }
}

TEST_CASE("topology: by_device takes places with the same cores for one") {
  auto const n = node::from_xml(own_machine("nested_places.xml")); // one GPU at a package, one at the only group in it
  CHECK(n.distance_to_device(0, 0) < n.distance_to_device(0, 1));
  auto const two = n.place(2, {.order = order::by_device});
  for (int r = 0; r < 2; ++r) {
    CHECK(two[std::size_t(r)].cores == id_set{r});
    CHECK(two[std::size_t(r)].device == r);
  }
}

TEST_CASE("topology: by_device spreads ranks where the places of devices nest") {
  std::string text = keel::test::content(own_machine("nested_places.xml"));
  std::string const end = "\n    </object>\n  </object>\n</topology>"; // of the second package, of cores 2 to 5
  auto const from = text.find("      <object type=\"Bridge\" gp_index=\"17\"");
  auto const behind = text.find("    </object>\n    <object type=\"Package\"");
  REQUIRE((from < behind && behind != text.npos));
  std::string card = text.substr(from, behind - from);
  text.erase(from, card.size());
  card.pop_back();
  text.insert(text.rfind(end), "\n" + card);
  for (auto const& [before, after] : {std::pair{"\"17\"", "\"90\""}, std::pair{"\"18\"", "\"91\""},
                                      std::pair{"[02-02]", "[03-03]"}, std::pair{"0000:02:", "0000:03:"}})
    card.replace(card.find(before), std::string_view{before}.size(), after);
  text.insert(text.rfind("\n      </object>\n      <object type=\"Bridge\""), "\n" + card); // in its group
  auto const n = node::from_xml_text(text);
  REQUIRE(n.devices().size() == 3);
  auto const ranks = n.place(3, {.order = order::by_device});
  for (int r = 0; r < 3; ++r) {
    auto const& rank = ranks[std::size_t(r)];
    CHECK(rank.cores == id_set::range(2 * r, 2 * r + 2));
    CHECK(n.devices()[std::size_t(rank.device)].pci_id == "0000:0" + std::to_string(r + 1) + ":00.0");
  }
  // The same with these two places alone.
  auto const first = text.find("        <object type=\"Bridge\" gp_index=\"15\"");
  auto const next = text.find("      </object>\n    </object>\n    <object type=\"Package\"");
  REQUIRE((first < next && next != text.npos));
  text.erase(first, next - first);
  auto const fewer = node::from_xml_text(text);
  REQUIRE(fewer.devices().size() == 2);
  auto const both = fewer.place(3, {.order = order::by_device});
  for (int r = 0; r < 3; ++r) CHECK(both[std::size_t(r)].cores == id_set::range(2 * r, 2 * r + 2));
}

TEST_CASE("topology: by_device refuses a node without such devices, and more ranks than contexts") {
  auto const n = node::from_xml(own_machine("accelerators.xml"));
  CHECK_THROWS_AS((void)n.place(2, {.order = order::by_device}), keel::error); // its GPU has one context
  CHECK(n.place(1, {.order = order::by_device})[0].device == 1);
  CHECK_THROWS_AS((void)node::from_xml(own_machine("no_io.xml")).place(2, {.order = order::by_device}), keel::error);
}

TEST_CASE("topology: a restricted placement uses those cores and no others, evenly") {
  auto const n = node::from_xml(own_machine("gpus8_numa4.xml"));
  auto const within = id_set::range(4, 13) | id_set{30};
  for (auto const how : {order::spread, order::compact, order::by_device})
    for (int const ranks : {1, 2, 3, 5, 10, 25}) {
      CAPTURE(int(how));
      CAPTURE(ranks);
      auto const placed = n.place(ranks, {.order = how, .within = within});
      REQUIRE(placed.size() == std::size_t(ranks));
      std::vector<int> users(n.cores().size(), 0);
      for (auto const& p : placed) {
        REQUIRE_FALSE(p.cores.empty());
        CHECK((p.cores - within).empty());
        for (int const c : p.cores) ++users[std::size_t(c)];
      }
      if (how == order::by_device) continue;
      int const most = *std::max_element(users.begin(), users.end());
      CHECK(most <= (ranks + 9) / 10);
      if (how == order::spread)
        for (int const c : within) CHECK(users[std::size_t(c)] >= most - 1);
    }
  CHECK_THROWS_AS((void)n.place(2, {.within = id_set{}}), keel::error);
  CHECK_THROWS_AS((void)n.place(2, {.within = id_set{99}}), keel::error);
}

TEST_CASE("topology: a rule may leave some hardware threads, and ranks get no others") {
  auto const n = node::from_xml(own_machine("hybrid.xml")); // threads 0 and 1 are core 0, 16 is core 8
  id_set const left{1, 2, 3, 16};
  auto const two = n.place(2, {.hardware_threads = left});
  CHECK(two[0].hardware_threads == id_set{1});
  CHECK(two[0].cores == id_set{0});
  CHECK(two[1].hardware_threads == id_set{2, 3, 16});
  CHECK(two[1].cores == id_set{1, 8});
  for (auto const how : {order::spread, order::compact})
    for (int const ranks : {1, 3, 4, 5, 9}) {
      id_set used;
      for (auto const& p : n.place(ranks, {.order = how, .hardware_threads = left})) {
        REQUIRE_FALSE(p.hardware_threads.empty());
        used |= p.hardware_threads;
      }
      CHECK((used - left).empty());
      if (how == order::spread) CHECK(used == left);
    }
  for (auto const& p : n.place(8, {.hardware_threads = id_set{3}})) CHECK(p.hardware_threads == id_set{3});
  CHECK(n.place(1, {.hardware_threads = left, .threads_per_core = 1})[0].hardware_threads == id_set{1, 2, 16});
  CHECK_THROWS_AS((void)n.place(2, {.hardware_threads = id_set{}}), keel::error);
  CHECK_THROWS_AS((void)n.place(2, {.hardware_threads = id_set{99}}), keel::error);
}

TEST_CASE("topology: a rule chooses how many hardware threads of a core are used") {
  auto const n = node::from_xml(own_machine("hybrid.xml"));
  for (auto const& p : n.place(4, {.threads_per_core = 1})) CHECK(p.hardware_threads.size() == p.cores.size());
  for (int const ranks : {16, 24, 40, 64}) { // now 16 places
    std::vector<int> users(64, 0);
    for (auto const& p : n.place(ranks, {.threads_per_core = 1}))
      for (int const t : p.hardware_threads) ++users[std::size_t(t)];
    for (auto const& c : n.cores())
      for (int const t : c.hardware_threads) {
        bool const is_first = t == *c.hardware_threads.begin();
        CHECK(users[std::size_t(t)] >= (is_first ? ranks / 16 : 0));
        CHECK(users[std::size_t(t)] <= (is_first ? (ranks + 15) / 16 : 0));
      }
  }
  CHECK_THROWS_AS((void)n.place(1, {.threads_per_core = -1}), keel::error);
}

TEST_CASE("topology: of few ranks each has a device in the middle of its share, of many each device as many") {
  detail::inventory all;
  all.devices.resize(8);
  auto const shares = [&](std::vector<int> const& devices, int ranks) {
    return detail::shares_of_devices(all, devices, ranks);
  };
  CHECK(shares({0, 1, 2, 3, 4, 5, 6, 7}, 2) == std::vector{0, 0, 1, 0, 0, 0, 1, 0});
  CHECK(shares({0, 1, 2, 3}, 3) == std::vector{1, 0, 1, 1});
  CHECK(shares({0, 1, 2, 3}, 4) == std::vector{1, 1, 1, 1});
  CHECK(shares({4, 5}, 5) == std::vector{3, 2});
}
