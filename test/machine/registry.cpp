// SPDX-License-Identifier: MIT
#include <keel/machine/registry.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
using km::environment;

TEST_CASE("machine: the registry owns environments and finds them by name") {
  environment const world;
  auto& half = km::environments().create("half", world, km::first{(world.size() + 1) / 2});
  CHECK(&km::environments().get("half") == &half);
  km::environments().create("all", world.comm(), km::master{world.size() - 1});
  CHECK(&km::environments().get("half") == &half);
  CHECK(km::environments().get("all").is_master() == (world.rank() == world.size() - 1));
  CHECK_THROWS_WITH_AS(km::environments().create("half", world, km::first{1}),
                       doctest::Contains("'half' already (there is half, all)"), keel::error);
  CHECK_THROWS_WITH_AS(km::environments().get("quarter"),
                       doctest::Contains("no environment 'quarter' (there is half, all)"), keel::error);
  CHECK_THROWS_AS(km::environments().remove("quarter"), keel::error);
  km::environments().remove("half");
  CHECK_FALSE(km::environments().contains("half"));
  CHECK(km::environments().contains("all"));
  km::environments().clear();
  CHECK_THROWS_WITH_AS(km::environments().get("all"), doctest::Contains("there is none"), keel::error);
}

TEST_CASE("machine: a refused environment leaves no name") {
  environment const world;
  CHECK_THROWS_AS(km::environments().create("bad", world, km::first{0}), keel::error);
  CHECK_FALSE(km::environments().contains("bad"));
}

TEST_CASE("machine: the default environment is the one lent, and nothing after it") {
  CHECK_THROWS_WITH_AS((void)km::default_environment(), doctest::Contains("no default environment"), keel::error);
  environment world;
  environment other{world, km::first{1}};
  {
    km::as_default const lent{world};
    CHECK(&km::default_environment() == &world);
    {
      km::as_default const inner{other};
      CHECK(&km::default_environment() == &other);
    }
    CHECK(&km::default_environment() == &world);
  }
  CHECK_THROWS_AS((void)km::default_environment(), keel::error);
}

TEST_CASE("machine: of environments lent in turn, whichever ends first, the last that lives is the default") {
  environment world;
  environment other{world, km::first{1}};
  std::optional<km::as_default<km::mpi>> first, second;
  first.emplace(world), second.emplace(other);
  first.reset();
  CHECK(&km::default_environment() == &other);
  second.reset();
  CHECK_THROWS_AS((void)km::default_environment(), keel::error);
}
