// SPDX-License-Identifier: MIT
#include <keel/machine/collectives.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace km = keel::machine;

TEST_CASE_TEMPLATE("machine: a broadcast reaches every rank, from any root", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  environment const world;
  for (int root : {0, world.size() - 1}) {
    double value = world.rank() == root ? 3.5 : 0;
    km::broadcast(world, value, root);
    CHECK(value == 3.5);
    std::vector<int> many(5, world.rank() == root ? 7 : 0);
    km::broadcast(world, std::span{many}, root);
    CHECK(many == std::vector<int>(5, 7));
  }
}

TEST_CASE_TEMPLATE("machine: a gather joins what ranks bring, by rank, however much", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  environment const world;
  int const root = world.size() - 1;
  std::vector<double> const mine(static_cast<std::size_t>(world.rank()), world.rank());
  auto const all = km::gather(world, mine, root);
  std::vector<double> wanted;
  for (int r = 0; r != world.size() && world.rank() == root; ++r)
    wanted.insert(wanted.end(), static_cast<std::size_t>(r), r);
  CHECK(all == wanted);
}

TEST_CASE_TEMPLATE("machine: texts of different length stay apart", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  environment const world;
  auto const texts = km::gather_texts(world, std::string(static_cast<std::size_t>(world.rank()), 'x'), 0);
  CHECK(texts.size() == (world.rank() == 0 ? static_cast<std::size_t>(world.size()) : 0));
  for (std::size_t r = 0; r != texts.size(); ++r) CHECK(texts[r] == std::string(r, 'x'));
}

TEST_CASE_TEMPLATE("machine: every rank learns the values of all", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  struct pair {
    int rank;
    double twice;
  };
  environment const world;
  auto const all = km::all_gather(world, pair{world.rank(), 2.0 * world.rank()});
  CHECK(all.size() == static_cast<std::size_t>(world.size()));
  for (int r = 0; r != world.size(); ++r) {
    CHECK(all[static_cast<std::size_t>(r)].rank == r);
    CHECK(all[static_cast<std::size_t>(r)].twice == 2.0 * r);
  }
}

TEST_CASE_TEMPLATE("machine: all agree only where all do", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  environment const world;
  km::barrier(world);
  CHECK(km::all_of(world, true));
  CHECK_FALSE(km::all_of(world, world.rank() != 0));
}

TEST_CASE_TEMPLATE("machine: collectives of a non-member return at once", R, km::mpi, km::alone) {
  using environment = km::basic_environment<R>;
  environment const world;
  environment const one{world, km::first{1}};
  if (one.is_member()) return;
  int value = 5;
  km::broadcast(one, value, 0);
  km::barrier(one);
  CHECK(value == 5);
  CHECK(km::gather(one, std::vector{1, 2}, 0).empty());
  CHECK(km::all_gather(one, 1).empty());
  CHECK(km::all_of(one, true));
  CHECK_FALSE(km::all_of(one, false));
}

TEST_CASE("machine: what has no value elsewhere cannot be sent") {
  CHECK(km::Sendable<double>);
  CHECK_FALSE(km::Sendable<int*>);
  CHECK_FALSE(km::Sendable<std::string>);
}
