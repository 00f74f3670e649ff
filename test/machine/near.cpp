// SPDX-License-Identifier: MIT
#include <keel/impl/machine/near.hpp>

#include <support/test.hpp>

namespace km = keel::machine;

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
