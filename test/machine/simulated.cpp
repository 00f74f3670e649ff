// SPDX-License-Identifier: MIT
#include <keel/machine/simulated.hpp>

#include <keel/machine/environment.hpp>

#include <support/test.hpp>

namespace km = keel::machine;

namespace {

using million = km::simulated<15'625, 64>;
using environment = km::basic_environment<million>;

} // namespace

TEST_CASE("machine: a range of a million ranks is as small as one of eight") {
  million::as const playing{million::ranks - 1};
  environment const world;
  environment const odd{world, km::strided{500'000, 1, 2}};
  environment const quarter{odd, km::strided{250'000, 499'999, -2}};
  environment const list{odd, km::chosen{499'999, 3}};
  CHECK(quarter.rank() == 0);
  CHECK(list.comm()->find(7) == 1);
  CHECK(list.comm()->find(8) == -1);
  CHECK(world.comm()->bytes() == sizeof(million::group));
  CHECK(quarter.comm()->bytes() == sizeof(million::group));
  CHECK(list.comm()->bytes() == sizeof(million::group) + 2 * sizeof(int));
}

TEST_CASE("machine: nodes and leaders of a million simulated ranks") {
  million::as const playing{64 * 7 + 3};
  environment const world;
  auto const node = world.node();
  CHECK(node.size() == 64);
  CHECK(node.rank() == 3);
  auto leaders = world.leaders();
  CHECK_FALSE(leaders.is_member());
  CHECK(leaders.set_master(15'624));
  CHECK_FALSE(leaders.set_master(15'625));
  environment const third{world, km::strided{300'000, 1, 3}};
  CHECK(third.node().size() == 22); // ranks 449, 452, ... 509 and 451 of node 7: 1 modulo 3
  CHECK(third.is_member());
}

TEST_CASE("machine: splits of a million simulated ranks") {
  million::as const playing{64 * 7 + 3};
  environment const world;
  auto const odd = world.split([](int rank) { return rank % 2; });
  CHECK(odd.size() == million::ranks / 2);
  CHECK(odd.rank() == (64 * 7 + 3) / 2);
  CHECK_FALSE(world.split([](int) { return std::optional<int>{}; }).is_member());
  CHECK_THROWS_AS((void)world.split([](int) { return -1; }), keel::error);
}

TEST_CASE("machine: what depends on the word of other ranks is not there to be called") {
  CHECK_FALSE(km::CommunicatingRanks<million>);
  CHECK_THROWS_AS(million::as{million::ranks}, keel::error);
}
