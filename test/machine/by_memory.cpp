// SPDX-License-Identifier: MIT
#include <keel/impl/machine/by_memory.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/simulated.hpp>
#include <keel/topology/binding.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
using km::environment;

namespace {

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
  keel::topology::binding const bound{node, third, 0};
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
