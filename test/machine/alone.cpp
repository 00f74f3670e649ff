// SPDX-License-Identifier: MIT
#include <keel/machine/alone.hpp>

#include <keel/machine/collectives.hpp>
#include <keel/machine/messages.hpp>

#include <support/test.hpp>

namespace km = keel::machine;
using solo = km::basic_environment<km::alone>;
static_assert(km::alone::is_running());

TEST_CASE("machine: alone is rank 0 of 1 and its own master, node and leader") {
  solo const world; // for the rest see test/laws/machine.cpp
  CHECK(world.size() == 1);
  CHECK(world.comm() == km::alone::handle::self);
  CHECK_FALSE(world.split(std::nullopt).is_member());
}

TEST_CASE("machine: alone finds a message without a partner, and recovers") {
  solo const world;
  km::messages m{world};
  int const out = 1;
  int in = 0;
  m.send(&out, sizeof out, 0, 1);
  CHECK_THROWS_WITH_AS(m.wait(), doctest::Contains("1 sent, 0 received"), keel::error);
  m.send(&out, sizeof out, 0, 1);
  m.receive(&in, sizeof in, 0, 1);
  m.wait();
  CHECK(in == 1);
}
