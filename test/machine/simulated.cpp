// SPDX-License-Identifier: MIT
#include <keel/machine/simulated.hpp>

#include <keel/impl/machine/by_memory.hpp>
#include <keel/impl/machine/near.hpp>
#include <keel/machine/environment.hpp>

#include <support/test.hpp>
#include <machine/random_selection.hpp>

#include <random>
#include <variant>

namespace km = keel::machine;
using keel::test::draw;
using keel::test::spoilt;
using keel::test::written_out;

namespace {

using million = km::simulated<15'625, 64>;
static_assert(km::SimulatedRanks<million>);
using environment = km::basic_environment<million>;

/// Whether an environment is the ranks of the world written out in `members`, as `me` sees it.
bool agrees(environment const& e, std::vector<int> const& members, int me, int master) {
  auto const at = std::find(members.begin(), members.end(), me);
  if (at == members.end()) return !e.is_member() && e.rank() == -1 && e.size() == 0 && e.comm() == nullptr;
  int const rank = int(at - members.begin());
  auto const& group = *e.comm();
  bool same = e.rank() == rank && e.size() == int(members.size()) && e.master_rank() == master &&
              e.is_master() == (rank == master) && group.size() == e.size() && million::rank(e.communicator()) == rank;
  for (std::size_t r = 0; same && r < members.size(); r += 1 + members.size() / 100) same = group[int(r)] == members[r];
  return same;
}

/// A tree to depth 4, the first level of at most `most` ranks.
bool tree_agrees(std::mt19937& random, int most) {
  // The first level is drawn before it is made, so that most trees are seen by one of its members.
  auto const top = draw(random, million::ranks, most);
  auto members = written_out(top);
  int const me = random() % 4 == 0 ? int(random() % million::ranks) : members[random() % members.size()];
  million::as const playing{me};
  environment const world;
  auto parent = std::visit([&](auto const& s) { return environment{world, s}; }, top);
  bool right = agrees(parent, members, me, 0);
  for (int depth = 1; depth != 4; ++depth) {
    int const extent = int(members.size());
    bool threw = false;
    try {
      std::visit([&](auto const& s) { environment{parent, s}; }, spoilt(random, extent));
    } catch (keel::error const&) {
      threw = true;
    }
    auto const s = draw(random, extent, extent);
    auto chosen_here = written_out(s);
    km::master const m{int(random() % chosen_here.size())};
    auto made = std::visit([&](auto const& one) { return environment{parent, one, m}; }, s);
    for (int& rank : chosen_here) rank = members[std::size_t(rank)];
    members = std::move(chosen_here);
    parent = std::move(made);
    right = right && threw && agrees(parent, members, me, m.rank);
  }
  return right;
}

} // namespace

TEST_CASE("machine: random trees of subsets are right among a million simulated ranks") {
  int right = 0;
  for (unsigned t = 0; t != 2000; ++t) {
    std::mt19937 random(t);
    right += tree_agrees(random, t % 100 == 0 ? million::ranks : 2000) ? 1 : 0;
  }
  CHECK(right == 2000);
}

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

TEST_CASE("machine: near ranks, splits and memories of a million simulated ranks") {
  million::as const playing{64 * 7 + 3};
  environment world;
  auto const node = world.near(64);
  CHECK_FALSE(node.is_member()); // the master's node has as many, and rank 0 is the master
  CHECK(world.set_master(64 * 7));
  CHECK(world.near(64).rank() == 3);
  CHECK(world.near(65).size() == 65);
  CHECK_THROWS_AS((void)world.near(million::ranks + 1), keel::error);

  auto const odd = world.split([](int rank) { return rank % 2; });
  CHECK(odd.size() == million::ranks / 2);
  CHECK(odd.rank() == (64 * 7 + 3) / 2);
  CHECK_FALSE(world.split([](int) { return std::optional<int>{}; }).is_member());
  CHECK_THROWS_AS((void)world.split([](int) { return -1; }), keel::error);

  auto const on = keel::topology::node::from_synthetic("package:2 numa:2 core:16 pu:1");
  CHECK(world.by_memory(on).size() == 16);
  CHECK(world.by_memory(on).rank() == 3);
}

TEST_CASE("machine: what depends on the word of other ranks is not there to be called") {
  CHECK_FALSE(km::CommunicatingRanks<million>);
  CHECK_THROWS_AS(million::as{million::ranks}, keel::error);
}
