// SPDX-License-Identifier: MIT
#include <keel/machine/host.hpp>

#include <keel/machine/collectives.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace km = keel::machine;

TEST_CASE("machine: all ranks of this node have its identity") {
  km::environment const world;
  auto const all = km::all_gather(world, km::node_identity());
  CHECK(std::count(all.begin(), all.end(), km::node_identity()) == world.node().size());
  CHECK(km::node_identity() == km::node_identity());
  CHECK_FALSE(km::host_name().empty());
}
