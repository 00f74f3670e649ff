// SPDX-License-Identifier: MIT
#include <keel/machine/environment.hpp>

#include <keel/block/length.hpp>
#include <keel/machine/collectives.hpp>

#include <support/test.hpp>
#include <laws/machine_ranks.hpp>

namespace km = keel::machine;
using km::environment;

namespace {

void check_subset(environment const& world, environment const& sub, std::vector<int> const& ranks) {
  auto const at = std::find(ranks.begin(), ranks.end(), world.rank());
  CHECK(sub.is_member() == (at != ranks.end()));
  keel::laws::place_is_sound(sub);
  if (at == ranks.end()) return;
  CHECK(sub.rank() == at - ranks.begin());
  CHECK(sub.size() == int(ranks.size()));
  CHECK(sub.master_rank() == 0);
  CHECK(sub.is_master() == (at == ranks.begin()));
  CHECK(km::all_gather(sub, world.rank()) == ranks);
}

} // namespace

TEST_CASE("machine: standalone, the members say what MPI says of the world") { // seed 5.1
  environment const world;
#if KEEL_WITH_MPI
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(world.comm() == MPI_COMM_WORLD);
  CHECK(world.rank() == rank);
  CHECK(world.size() == size);
#endif
  CHECK(world.master_rank() == 0);
  CHECK(world.is_master() == (world.rank() == 0));
  CHECK(world.is_member());
}

TEST_CASE("machine: the master moves to rank 1, or nowhere") { // seed 5.2
  environment world;
  bool const can = world.size() > 1;
  CHECK(world.set_master(1) == can);
  CHECK(world.master_rank() == (can ? 1 : 0));
  CHECK(world.is_master() == (world.rank() == world.master_rank()));
  CHECK_FALSE(world.set_master(world.size()));
  CHECK_FALSE(world.set_master(-1));
  CHECK(world.master_rank() == (can ? 1 : 0));
  environment subset{world, km::first{1}};
  CHECK(subset.set_master(0)); // on all ranks alike
  CHECK_FALSE(subset.set_master(1));
  keel::laws::place_is_sound(subset);
  CHECK(environment{km::master{world.size() - 1}}.is_master() == (world.rank() == world.size() - 1));
}

TEST_CASE("machine: subsets of 4, of every other rank, and of 1, 2, 5 and 7") { // seed 5.3
  environment const world;
  int const n = world.size();
  std::vector<int> four;
  std::vector<int> odd;
  std::vector<int> some;
  for (int r = 0; r != n; ++r) {
    if (r < 4) four.push_back(r);
    if (r % 2 == 1 || n == 1) odd.push_back(r);
    if (r == 1 || r == 2 || r == 5 || r == 7 || n == 1) some.push_back(r);
  }
  check_subset(world, environment{world, km::first{int(four.size())}}, four);
  check_subset(world, environment{world, km::strided{int(odd.size()), odd.front(), 2}}, odd);
  check_subset(world, environment{world, km::chosen(some)}, some);
  check_subset(world, environment{world.comm(), km::chosen(some)}, some);
  if (n == 8) CHECK(some == std::vector{1, 2, 5, 7});
}

TEST_CASE("machine: subsets of a subset count its ranks, in any order, also from its communicator") {
  environment const world;
  int const n = world.size(), last = n - 1;
  environment const turned{world, km::strided{n, last, -1}};
  std::vector<int> all;
  for (int r = n; r-- > 0;) all.push_back(r);
  check_subset(world, turned, all);
  std::vector<int> const ends = n > 1 ? std::vector{last, 0} : std::vector{0}; // of the turned ones: 0 and the last
  for (environment const& made :
       {environment{turned, km::chosen(ends)}, environment{turned.comm(), km::chosen(ends), km::master{0}}}) {
    check_subset(world, made, n > 1 ? std::vector{0, last} : std::vector{0});
    if (made.is_member()) continue;
    CHECK_FALSE(environment{made, km::first{1}}.is_member());
    CHECK_FALSE(environment{made.comm(), km::first{1}}.is_member());
  }
  CHECK_THROWS_WITH_AS((environment{turned.comm(), km::first{n + 1}}), doctest::Contains("it leaves the parent, which"),
                       keel::error);
  environment const half{world, km::first{(n + 1) / 2}};
  check_subset(world, environment{half, km::strided{1, (n + 1) / 2 - 1, 1}}, {(n + 1) / 2 - 1});
  CHECK(environment{turned, km::chosen(ends), km::master{int(ends.size()) - 1}}.is_master() == (world.rank() == last));
}

TEST_CASE("machine: coupled through a subset's communicator, the environment is the subset") { // seed 5.4
  environment const world;
  environment const subset{world, km::first{(world.size() + 1) / 2}};
  environment const coupled{subset.comm()};
  CHECK(coupled.is_member() == subset.is_member());
  CHECK(coupled.rank() == subset.rank());
  CHECK(coupled.size() == subset.size());
  CHECK(coupled.master_rank() == subset.master_rank());
  CHECK(coupled.is_master() == subset.is_master());
  if (!subset.is_member()) {
    CHECK_FALSE(subset.node().is_member());
    CHECK_FALSE(subset.leaders().is_member());
    CHECK_FALSE(subset.split(0).is_member());
  }
#if KEEL_WITH_MPI
  if (subset.is_member()) {
    int result = MPI_IDENT;
    MPI_Comm_compare(coupled.comm(), subset.comm(), &result);
    CHECK(result == MPI_CONGRUENT);
  }
#endif
}

TEST_CASE("machine: OMEGA_VECTOR_SIZE of the compile line is seen inside") { // seed 5.5, built with 16
  int const inside = OMEGA_VECTOR_SIZE;
  CHECK(inside == 16);
  CHECK(keel::block::length<double, keel::serial> == 16);
}

TEST_CASE("machine: bad lists and bad masters are refused on every rank, non-members included") {
  environment const world;
  int const n = world.size();
  environment const one{world, km::first{1}};
  CHECK_THROWS_AS((environment{world, km::chosen(std::vector<int>{})}), keel::error);
  CHECK_THROWS_AS((environment{world, km::chosen{n - 1}, km::master{-1}}), keel::error);
  CHECK_THROWS_AS((environment{one, km::first{2}}), keel::error);
  CHECK_THROWS_AS((environment{world.comm(), km::first{n + 1}}), keel::error);
  CHECK_THROWS_AS((environment{world.comm(), km::master{n}}), keel::error);
  CHECK_THROWS_AS((environment{km::master{n}}), keel::error);
  CHECK_THROWS_AS((environment{km::master{-1}}), keel::error);
}

// Master and stride are told apart by type.
static_assert(!std::is_constructible_v<environment, environment const&, int, int> &&
              !std::is_constructible_v<environment, environment const&, int> &&
              !std::is_convertible_v<int, km::master>);
static_assert(std::is_constructible_v<environment, environment const&, km::first, km::master>);
static_assert(!std::is_copy_constructible_v<environment> && std::is_nothrow_move_constructible_v<environment>);

TEST_CASE("machine: a split by a rule is that by each rank's color") {
  environment const world;
  auto const rule = [](int rank) { return rank % 3 == 2 ? std::nullopt : std::optional<int>{rank % 3}; };
  auto const by_rule = world.split(rule), by_color = world.split(rule(world.rank()));
  CHECK(by_rule.is_member() == by_color.is_member());
  CHECK(by_rule.rank() == by_color.rank());
  CHECK(by_rule.size() == by_color.size());
}

TEST_CASE("machine: split puts like colors together, ordered by key") {
  environment const world;
  int const n = world.size();
  auto const halves = world.split(world.rank() % 2, -world.rank());
  int const mates = (n - world.rank() % 2 + 1) / 2;
  CHECK(halves.size() == mates);
  CHECK(halves.rank() == mates - 1 - world.rank() / 2);
  auto const lone = world.split(world.rank() == 0 ? std::optional<int>{3} : std::nullopt);
  CHECK(lone.is_member() == (world.rank() == 0));
  CHECK_THROWS_AS((void)world.split(-2), keel::error);
}
