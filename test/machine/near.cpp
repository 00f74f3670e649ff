// SPDX-License-Identifier: MIT
#include <keel/impl/machine/near.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/topology/binding.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
using km::environment;

namespace {

/// Ranks on nodes, one address for each rank; a node is known by its first rank.
std::vector<km::network_place> ranks_at(std::vector<std::string_view> const& addresses) {
  std::vector<km::network_place> places;
  for (auto const address : addresses) {
    auto const first = std::find(addresses.begin(), addresses.end(), address) - addresses.begin();
    places.push_back(km::network_place::parse(address, int(first)));
  }
  return places;
}

/// This machine as if it had three memories with two cores each, and hardware thread `t`, which is not 0, in the third.
keel::topology::node three_memories(int t) {
  std::string threads;
  for (int const after : {-1, 1, 0, 2, 3, 4}) threads += (threads.empty() ? "" : ",") + std::to_string(t + after);
  setenv("HWLOC_SYNTHETIC", ("numa:3 core:2 pu:1(indexes=" + threads + ")").c_str(), 1);
  setenv("HWLOC_THISSYSTEM", "1", 1);
  auto made = keel::topology::node::here();
  unsetenv("HWLOC_SYNTHETIC");
  unsetenv("HWLOC_THISSYSTEM");
  return made;
}

} // namespace

TEST_CASE("machine: near ranks share the master's node where it has as many") {
  auto const places = ranks_at({"a.n0", "a.n0", "a.n1", "a.n1", "a.n1"});
  CHECK(km::closest(places, 0, 2) == std::vector{0, 1});
  CHECK(km::closest(places, 2, 3) == std::vector{2, 3, 4});
  CHECK(km::closest(places, 0, 3) == std::vector{2, 3, 4}); // one whole node beats parts of two
}

TEST_CASE("machine: near ranks are on nodes under one switch before others") {
  auto const places = ranks_at({"s0.a.n0", "s0.b.n1", "s0.a.n2", "s1.c.n3", "s0.b.n4"});
  CHECK(km::closest(places, 0, 2) == std::vector{0, 2});
  CHECK(km::closest(places, 1, 2) == std::vector{1, 4});
  CHECK(km::closest(places, 0, 5) == std::vector{0, 2, 1, 4, 3});
}

TEST_CASE("machine: without addresses near means onward in the order of the nodes") {
  auto const places = ranks_at({"n0", "n1", "n2", "n3"});
  CHECK(km::closest(places, 2, 3) == std::vector{2, 3, 0});
}

TEST_CASE("machine: hops count the levels of switches between two nodes") {
  auto const places = ranks_at({"s.a.n0", "s.a.n0", "s.a.n1", "s.b.n2", "t.a.n3"});
  CHECK(places[0].hops_to(places[1]) == 0);
  CHECK(places[0].hops_to(places[2]) < places[0].hops_to(places[3]));
  CHECK(places[0].hops_to(places[3]) < places[0].hops_to(places[4]));
  CHECK(places[0].hops_to(places[2]) == 1);
  CHECK(places[0].hops_to(places[4]) == 1 + int(km::network_place::depth));
  CHECK(km::network_place{}.hops_to(km::network_place::parse("", 0)) == 0);
}

TEST_CASE("machine: an environment of near ranks has the master's node first") {
  km::environment world;
  int const half = (world.size() + 1) / 2;
  auto const some = world.near(half);
  CHECK(km::all_gather(world, int{some.is_member()}).size() == std::size_t(world.size()));
  if (some.is_member()) CHECK(some.size() == half);
  CHECK(km::all_of(world, some.is_member() == (world.rank() < half))); // all test ranks are on one node
  CHECK(world.near(world.size()).size() == world.size());
  CHECK_THROWS_AS((void)world.near(world.size() + 1), keel::error);
  CHECK_THROWS_AS((void)world.near(0), keel::error);
  km::environment const one{world, km::first{1}};
  CHECK(one.near(1).is_member() == one.is_member());
  world.set_master(world.size() - 1); // on the same node, so that it changes nothing
  CHECK(world.near(half).is_member() == (world.rank() < half));
}

TEST_CASE("machine: ranks of one NUMA memory come together") {
  environment const world;
  auto const two = keel::topology::node::from_synthetic("package:2 numa:1 core:4 pu:1");
  auto const mates = world.by_memory(two);
  int const n = world.size();
  int const mine = km::place_on(two, world.rank(), n).memory;
  int wanted = 0;
  for (int const memory : km::all_gather(world, mine)) wanted += memory == mine ? 1 : 0;
  CHECK(mates.size() == wanted);
  if (n == 8) CHECK(mates.size() == 4);
  if (n == 8) CHECK(mates.rank() == world.rank() % 4);
}

TEST_CASE("machine: a rank that is bound has the memory nearest to its cores, whatever placing would give") {
  int last = 0;
  for (int const t : keel::topology::bound_hardware_threads()) last = t;
  if (last == 0) return;
  auto const node = three_memories(last);
  REQUIRE(node.is_this_machine());
  REQUIRE(node.memories().size() == 3);
  keel::topology::placement const third{.cores = {2}, .hardware_threads = {last}};
  keel::topology::binding const bound{node, third};
  for (int const rank : {0, 1, 2}) {
    auto const place = km::place_on(node, rank, 3);
    CHECK(place.cores == keel::topology::id_set{2});
    CHECK(place.memory == 1);
  }
}

TEST_CASE("machine: by memory on this very node is a partition of the ranks here") {
  environment const world;
  auto const mates = world.by_memory();
  CHECK(mates.is_member());
  int groups = 0;
  for (int const rank : km::all_gather(world, mates.rank())) groups += rank == 0 ? 1 : 0;
  CHECK(groups >= 1);
  CHECK(groups <= int(keel::topology::node::here().memories().size()));
  environment const one{world, km::first{1}};
  CHECK(one.by_memory().is_member() == one.is_member());
}
