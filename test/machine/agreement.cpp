// SPDX-License-Identifier: MIT
#include <keel/machine/agreement.hpp>

#include <keel/machine/collectives.hpp>

#include <support/test.hpp>

#include <new>

namespace km = keel::machine;
using keel::test::message_of;

namespace {

constexpr km::failing_call call{"test", "the call", "is not done", "Do something else"};

} // namespace

TEST_CASE_TEMPLATE("machine: what one rank throws, all throw", R, km::mpi, km::alone) {
  km::basic_environment<R> const world;
  km::agreement const ranks(world);
  CHECK(ranks.size() == world.size());
  CHECK_FALSE(bool(km::agreement()));
  CHECK_NOTHROW(ranks.all_or_none(call, [] {}));
  for (int failing = 0; failing < world.size(); ++failing) {
    auto const rank = std::to_string(failing);
    auto const on_one = [&](auto const& e) {
      return [&] {
        if (world.rank() == failing) throw e;
      };
    };
    auto const expected = [&](std::string const& why) {
      return "keel::test: the call is not done (rank " + rank + ": " + why + "). Do something else.";
    };
    keel::error const own("other", "it broke", "of age", "Mend it");
    CHECK(message_of([&] { ranks.all_or_none(call, on_one(own)); }) == expected("it broke (of age)"));
    CHECK(message_of([&] { ranks.all_or_none(call, on_one(std::runtime_error("lost"))); }) == expected("lost"));
    CHECK(message_of([&] { ranks.all_or_none(call, on_one(std::bad_alloc())); }) ==
          expected("there is not enough memory"));
    CHECK(message_of([&] {
            ranks.all_or_none(call, on_one(std::runtime_error(std::string(5000, 'x'))));
          }).find(std::string(900, 'x') + "). Do") != std::string::npos);
    if (world.size() == 1) continue;
    CHECK(message_of([&] { ranks.all_alike(call, on_one(own)); }) ==
          "keel::other: it broke (of age). Mend it. [rank " + rank + "]");
    CHECK(message_of([&] { ranks.all_alike(call, on_one(std::bad_alloc())); }) ==
          expected("there is not enough memory"));
  }
  CHECK_THROWS_AS(ranks.all_alike(call, [] { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK(message_of([&] { ranks.all_alike(call, [] { throw keel::error("other", "it broke"); }); }) ==
        "keel::other: it broke.");
  CHECK(message_of([&] { ranks.all_or_none(call, [] { throw keel::error("other", "it broke"); }); }) ==
        "keel::test: the call is not done (rank 0: it broke). Do something else.");
}

TEST_CASE("machine: numbers travel with an agreement, of each the least") {
  km::environment const world;
  km::agreement const ranks(world);
  std::array<std::int64_t, 3> joined{};
  auto const fill = [&] { joined[0] = world.rank() + 5, joined[1] = -world.rank(); };
  ranks.all_or_none(call, fill, joined);
  CHECK(joined[0] == 5);
  CHECK(joined[1] == 1 - world.size());
  auto const fill_and_fail = [&] {
    fill();
    if (world.rank() == 0) throw std::bad_alloc();
  };
  joined = {};
  CHECK_THROWS_AS(ranks.all_or_none(call, fill_and_fail, joined), keel::error);
  CHECK(joined[0] == 5);
}
