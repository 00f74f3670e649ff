// SPDX-License-Identifier: MIT
#include <keel/machine/attachments.hpp>

#include <keel/machine/environment.hpp>

#include <support/test.hpp>

namespace km = keel::machine;

namespace {

struct lanes {
  int count;
};
struct rails {
  int count;
};

std::string order;
struct leaving {
  char name;
  ~leaving() { order += name; }
};
struct also_leaving : leaving {};

} // namespace

TEST_CASE("machine: an application hangs its own data on an environment, by type") {
  km::basic_environment<km::alone> world;
  world.data().add<lanes>(lanes{3});
  world.data().add<rails>(rails{5});
  CHECK(world.data().get<lanes>().count == 3);
  world.data().get<rails>().count += 1;
  CHECK(std::as_const(world).data().get<rails>().count == 6);
  auto const* const where = world.data().find<lanes>();
  km::basic_environment<km::alone> const moved = std::move(world);
  CHECK(moved.data().find<lanes>() == where);
  CHECK(world.data().find<lanes>() == nullptr);
}

TEST_CASE("machine: data that is there already, or not at all, is an error") {
  km::attachments a;
  CHECK_THROWS_WITH_AS(a.get<lanes>(), doctest::Contains("no value of this type"), keel::error);
  a.add<lanes>(lanes{1});
  CHECK_THROWS_WITH_AS(a.add<lanes>(lanes{2}), doctest::Contains("attached already"), keel::error);
  CHECK(a.get<lanes>().count == 1);
  CHECK(a.remove<lanes>());
  CHECK_FALSE(a.remove<lanes>());
  CHECK(a.find<lanes>() == nullptr);
}

TEST_CASE("machine: data is destroyed once, the last first") {
  order.clear();
  {
    km::attachments a;
    a.add<leaving>(leaving{'a'});
    a.add<also_leaving>(also_leaving{{'b'}});
    order.clear();
    km::attachments other;
    other = std::move(a);
    CHECK(order.empty());
  }
  CHECK(order == "ba");
}
