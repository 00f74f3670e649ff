// SPDX-License-Identifier: MIT
#include <keel/machine/by_memory.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/simulated.hpp>

#include <doctest/doctest.h>

namespace km = keel::machine;
using km::environment;

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

TEST_CASE("machine: by memory on this very node is a partition of the ranks here") {
  environment const world;
  auto const mates = world.by_memory();
  CHECK(mates.is_member());
  int groups = 0;
  for (int const rank : km::all_gather(world, mates.rank())) groups += rank == 0 ? 1 : 0;
  CHECK(groups >= 1);
  CHECK(groups <= static_cast<int>(keel::topology::node::here().memories().size()));
  environment const one{world, km::first{1}};
  CHECK(one.by_memory().is_member() == one.is_member());
}

TEST_CASE("machine: each of a million simulated ranks has a core of its own node") {
  using million = km::simulated<15'625, 64>;
  auto const on = keel::topology::node::from_synthetic("package:2 numa:2 core:16 pu:1");
  for (int const rank : {0, 63, 64, 500'000, million::ranks - 1}) {
    million::as const playing{rank};
    auto const node = km::basic_environment<million>{}.node();
    auto const place = km::place_on(on, node.rank(), node.size());
    CHECK(place.cores == keel::topology::id_set{rank % 64});
    CHECK(place.memory == rank % 64 / 16);
  }
}
