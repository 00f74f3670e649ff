// SPDX-License-Identifier: MIT
#include <keel/topology/placement.hpp>

#include <keel/topology/node.hpp>

#include "record.hpp"
#include "saved.hpp"
#include "walk.hpp"

#include <support/test.hpp>

#include <climits>
#include <fstream>
#include <iterator>

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

/// What a machine's ranks get by a rule: cores/memory/device of each, or its hardware threads.
struct placed_ranks {
  char const* why;
  char const* machine;
  int ranks;
  placing rule;
  char const* map;
  char const* threads = nullptr;
};

/// Some threads of the hybrid machine: the second of core 0, both of core 1, and that of core 8.
id_set const some_threads{1, 2, 3, 16};
placing const plain, near_devices{.order = order::by_device}, packed_in{.order = order::compact};
placing const first_threads{.threads_per_core = 1}, in_one_node{.greedy = false};
placing const first_near_devices{.order = order::by_device, .threads_per_core = 1};
placing const in_some{.hardware_threads = some_threads};
placing const packed_in_some{.order = order::compact, .hardware_threads = some_threads};
placing const both_rules{.hardware_threads = some_threads, .threads_per_core = 1};
placing within(id_set const& cores) { return {.within = cores}; }
placing first_threads_of(id_set const& cores) { return {.within = cores, .threads_per_core = 1}; }
placing on_threads(id_set const& threads) { return {.hardware_threads = threads}; }
placing threads_each(int most) { return {.threads_per_core = most}; }
char const* const three_memories = "numa:3 core:4 pu:1";
char const* const coral_ea = "numa:2 core:10 pu:8"; ///< as mpibind's tests call these machines
char const* const lassen = "numa2_gpus4.xml";       ///< 40 cores of four threads, which are 8 to 87 and 96 to 175
char const* const corona = "numa8_gpus4.xml";       ///< GPUs at the second, third, sixth and last of its NUMA nodes

placed_ranks const placed_rows[]{
    {"ranks are cut along the tree: two NUMA nodes of one package, and the other package", "gpus8_numa4.xml", 3, plain,
     "0-7/0/0 8-15/1/3 16-31/2/6"},
    {"a memory with too few cores for a rank goes to the neighbour on its side of the border; this is on it",
     three_memories, 2, within({0, 1, 2, 3, 5, 8, 9, 10, 11}), "0-3,5/0/-1 8-11/2/-1"},
    {"before the border", three_memories, 2, within({1, 2, 3, 5, 8, 9, 10, 11}), "1-3,5/0/-1 8-11/2/-1"},
    {"after it", three_memories, 2, within({0, 1, 2, 3, 6, 8, 9, 11}), "0-3/0/-1 6,8-9,11/1/-1"},
    {"the first of all", three_memories, 2, within({1, 4, 5, 6, 8, 9, 10}), "1,4-6/0/-1 8-10/2/-1"},
    {"the last of all", three_memories, 2, within({0, 1, 2, 4, 5, 6, 11}), "0-2/0/-1 4-6,11/1/-1"},
    {"a rank without a memory of its own gets the one with the shortest latency, not the first of as many steps",
     "latencies.xml", 1, within({4, 5}), "4-5/1/-1"},
    {"of two memories over the same cores each is used", "attributes.xml", 4, plain, "0/0/-1 1/0/-1 2/2/-1 3/2/-1"},
    {"compact ranks stand next to each other, one core each", "restricted.xml", 3, packed_in, "0/0/-1 1/0/-1 2/0/-1",
     "4-5 6-7 12-13"},
    {"with more ranks than cores the first three are filled first", "restricted.xml", 11, packed_in,
     "0/0/-1*2 1/0/-1*2 2/0/-1*2 3/0/-1 4/0/-1 5/0/-1 6/0/-1 7/0/-1", "4 5 6 7 12 13 14-15 16-17 18-19 20-21 22-23"},
    {"by_device keeps ranks on the cores near their device", "gpus_one_side.xml", 3, near_devices,
     "6-7/1/0 8-9/1/1 10-11/1/2"},
    {"of devices that serve more ranks the first ones", "gpus_one_side.xml", 4, near_devices,
     "6/1/0 7-8/1/0 9/1/1 10-11/1/2"},
    {"and uses devices evenly", "gpus8_numa4.xml", 3, near_devices, "0-7/0/1 16-23/2/6 24-31/3/9"},
    {"a rank is in the middle of its share", "gpus8_numa4.xml", 1, near_devices, "16-23/2/6"},
    {"as many ranks as devices", "gpus8_numa4.xml", 8, near_devices,
     "0-3/0/0 4-7/0/1 8-11/1/3 12-15/1/4 16-19/2/6 20-23/2/7 24-27/3/9 28-31/3/10"},
    {"the same for three ranks a device, of four cores", "gpus8_numa4.xml", 24, near_devices,
     "0/0/0 1/0/0 2-3/0/0 4/0/1 5/0/1 6-7/0/1 8/1/3 9/1/3 10-11/1/3 12/1/4 13/1/4 14-15/1/4 16/2/6 17/2/6 18-19/2/6 "
     "20/2/7 21/2/7 22-23/2/7 24/3/9 25/3/9 26-27/3/9 28/3/10 29/3/10 30-31/3/10"},
    {"by network",
     "gpus8_numa4.xml",
     4,
     {.order = order::by_device, .device = device_type::network},
     "0-7/0/2 8-15/1/5 16-23/2/8 24-31/3/11"},
    {"places with the same cores are one: a GPU at a package, one at the only group in it", "nested_places.xml", 2,
     near_devices, "0/0/0 1/0/1"},
    {"ranks are spread where the places of devices nest", "nested_three.xml", 3, near_devices,
     "0-1/0/0 2-3/1/2 4-5/2/1"},
    {"and where there are no other places", "nested_two.xml", 3, near_devices, "0-1/0/0 2-3/1/1 4-5/2/0"},
    {"its only GPU has one context", "accelerators.xml", 1, near_devices, "0-3/0/1"},
    {"where a core is switched off", "one_offline.xml", 3, near_devices, "0-1/0/0 2-3/0/0 4-6/0/0"},
    {"a rule may leave some hardware threads, and ranks get no others", "hybrid.xml", 2, in_some, "0/0/-1 1,8/0/-1",
     "1 2-3,16"},
    {"more ranks than cores are left", "hybrid.xml", 5, in_some, "0/0/-1 1/0/-1*3 8/0/-1", "1 2*2 3 16"},
    {"compact", "hybrid.xml", 5, packed_in_some, "0/0/-1 1/0/-1*2 8/0/-1*2", "1 2 3 16*2"},
    {"of which fewer are used", "hybrid.xml", 1, packed_in_some, "0/0/-1", "1"},
    {"one thread for all", "hybrid.xml", 8, on_threads({3}), "1/0/-1*8", "3*8"},
    {"both rules", "hybrid.xml", 1, both_rules, "0-1,8/0/-1", "1-2,16"},
    {"one thread of each core", "hybrid.xml", 4, first_threads, "0-3/0/-1 4-7/0/-1 8-11/0/-1 12-15/0/-1",
     "0,2,4,6 8,10,12,14 16-19 20-23"},
    {"now there are 16 places", "hybrid.xml", 24, first_threads,
     "0/0/-1*2 1/0/-1 2/0/-1*2 3/0/-1 4/0/-1*2 5/0/-1 6/0/-1*2 7/0/-1 8/0/-1*2 9/0/-1 10/0/-1*2 11/0/-1 12/0/-1*2 "
     "13/0/-1 14/0/-1*2 15/0/-1",
     "0*2 2 4*2 6 8*2 10 12*2 14 16*2 17 18*2 19 20*2 21 22*2 23"},

    // The questions of mpibind's tests, whose users come with its answers in mind; its defaults as keel's rules. These
    // are its answers, but for what is said.
    {"mpibind", coral_ea, 1, plain, "0-19/0/-1", "0-159"},
    {"mpibind", coral_ea, 2, threads_each(8), "0-9/0/-1 10-19/1/-1", "0-79 80-159"},
    {"mpibind", coral_ea, 2, first_threads, "0-9/0/-1 10-19/1/-1",
     "0,8,16,24,32,40,48,56,64,72 80,88,96,104,112,120,128,136,144,152"},
    {"mpibind", coral_ea, 2, threads_each(7), "0-9/0/-1 10-19/1/-1",
     "0-6,8-14,16-22,24-30,32-38,40-46,48-54,56-62,64-70,72-78 "
     "80-86,88-94,96-102,104-110,112-118,120-126,128-134,136-142,144-150,152-158"},
    {"mpibind", coral_ea, 2, first_threads_of(id_set::range(0, 10)), "0-4/0/-1 5-9/0/-1",
     "0,8,16,24,32 40,48,56,64,72"},
    {"mpibind", coral_ea, 8, on_threads(id_set::range(0, 8)), "0/0/-1*8", "0 1 2 3 4 5 6 7"},
    {"mpibind", "numa:2 core:18 pu:1", 1, on_threads({0}), "0/0/-1", "0"},
    {"mpibind", lassen, 1, plain, "0-39/0/0", "8-87,96-175"},
    {"mpibind", lassen, 2, threads_each(4), "0-19/0/0 20-39/1/2", "8-87 96-175"},
    {"mpibind", lassen, 2, first_near_devices, "0-19/0/1 20-39/1/3"},
    {"mpibind", lassen, 2, first_threads_of(id_set::range(0, 20)), "0-9/0/0 10-19/0/1"},
    {"mpibind hands out the two near GPUs; keel uses every GPU before it doubles one", lassen, 4,
     on_threads(id_set::range(8, 12)), "0/0/0 0/0/1 0/0/2 0/0/3", "8 9 10 11"},
    {"so here", lassen, 8, on_threads({8}), "0/0/0 0/0/1 0/0/2 0/0/3 0/0/0 0/0/1 0/0/2 0/0/3", "8*8"},
    {"mpibind", corona, 2, threads_each(2), "0-23/0/0 24-47/4/2", "0-47 48-95"},
    {"mpibind", corona, 2, on_threads({0, 1}), "0/0/0 0/0/1", "0 1"},
    {"mpibind", corona, 2, first_threads_of(id_set::range(0, 6)), "0-2/0/0 3-5/0/1", "0,2,4 6,8,10"},
    {"mpibind", corona, 8, first_near_devices,
     "6-8/1/0 9-11/1/0 12-14/2/1 15-17/2/1 30-32/5/2 33-35/5/2 42-44/7/3 45-47/7/3",
     "12,14,16 18,20,22 24,26,28 30,32,34 60,62,64 66,68,70 84,86,88 90,92,94"},
    {"mpibind uses all threads of a core where there are fewer tasks than NUMA nodes, whatever it is asked for", corona,
     2, first_threads, "0-23/0/0 24-47/4/2",
     "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46 "
     "48,50,52,54,56,58,60,62,64,66,68,70,72,74,76,78,80,82,84,86,88,90,92,94"},
    {"without greedy a task stays in one NUMA node", corona, 2, in_one_node, "0-5/0/0 24-29/4/2", "0-11 48-59"},
    {"so here", corona, 1, {.threads_per_core = 1, .greedy = false}, "0-5/0/0", "0,2,4,6,8,10"},
    {"so here", corona, 1, {.within = id_set::range(3, 9), .greedy = false}, "3-5/0/1", "6-11"},
    {"so here",
     corona,
     9,
     {.hardware_threads = id_set{0}, .greedy = false},
     "0/0/0 0/0/1 0/0/2 0/0/3 0/0/0 0/0/1 0/0/2 0/0/3 0/0/0",
     "0*9"},
    {"mpibind gives two NUMA nodes to the first of seven tasks; keel rounds shares, so it is the sixth", corona, 7,
     plain, "0-5/0/0 6-11/1/0 12-17/2/1 18-23/3/1 24-29/4/2 30-41/5/2 42-47/7/3",
     "0-11 12-23 24-35 36-47 48-59 60-83 84-95"},
};

/// A placement that is refused, and words of the reason.
placed_ranks const refused_rows[]{
    {"0 ranks cannot be placed", "core:2 pu:1", 0, {}, ""},
    {"-3 ranks cannot be placed", "core:2 pu:1", -3, {}, ""},
    {"threads of a core cannot be used", "hybrid.xml", 1, {.threads_per_core = -1}, ""},
    {"leaves no core", "gpus8_numa4.xml", 2, {.within = id_set{}}, ""},
    {"leaves no core", "gpus8_numa4.xml", 2, {.within = id_set{99}}, ""},
    {"leaves no core", "hybrid.xml", 2, {.hardware_threads = id_set{}}, ""},
    {"leaves no core", "hybrid.xml", 2, {.hardware_threads = id_set{99}}, ""},
    {"has no gpu", "no_io.xml", 2, near_devices, ""},
    {"fewer contexts", "accelerators.xml", 2, near_devices, ""}, // its GPU has one context
};

} // namespace

TEST_CASE("topology: ranks are where a row says") {
  for (auto const& row : placed_rows) {
    CAPTURE(row.why);
    auto const ranks = keel::test::machine_of(row.machine).place(row.ranks, row.rule);
    CHECK(keel::test::map_of(ranks) == row.map);
    if (row.threads == nullptr) continue;
    CHECK(keel::test::listed(ranks, [](placement const& p) { return to_string(p.hardware_threads); }) == row.threads);
  }
}

TEST_CASE("topology: what cannot be placed is refused") {
  for (auto const& row : refused_rows)
    CHECK(keel::test::refuses([&] { (void)keel::test::machine_of(row.machine).place(row.ranks, row.rule); }, row.why));
}

TEST_CASE("topology: ranks get near, balanced places, and none shares before it must") {
  for (auto const& file : keel::test::all_machines())
    for (int const ranks : {1, 2, 3, 4, 8, 16, 20, 64, 100, 500}) {
      CAPTURE(file);
      CAPTURE(ranks);
      auto const n = node::from_xml(file);
      auto const placed = n.place(ranks);
      REQUIRE(placed.size() == std::size_t(ranks));
      check_cores(n, placed);
      if (ranks >= int(n.cores().size())) check_cores(n, n.place(ranks, packed_in));
      if (ranks <= 64) check_against_hwloc(n, keel::test::walk{file}, placed);
    }
}

TEST_CASE("topology: the maps of the project's machines are those on record") {
  std::string maps; // a line for each machine and number of ranks
  for (auto const& name : keel::test::own_machines())
    for (int const ranks : {1, 2, 4, 8, 16, 64})
      maps += name + ' ' + std::to_string(ranks) + ": " +
              keel::test::map_of(node::from_xml(own_machine(name)).place(ranks)) + '\n';
  keel::test::check_record("maps.txt", maps);
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
}
