// SPDX-License-Identifier: MIT
/// @file
/// Distances in a tree of localities, and speeds by latency.
#include <keel/impl/topology/latencies.hpp>
#include <keel/impl/topology/localities.hpp>

#include <support/test.hpp>

using keel::topology::detail::localities;

namespace {

/// A root of four cores: a package of cores 0 and 1, with a place for each, and a package of cores 2 and 3.
localities machine() {
  localities tree;
  int const root = tree.begin(0, 0, 2), first = tree.begin(root, 0, 1);
  for (int core : {0, 1}) tree.end(tree.begin(first, core, 0), core + 1);
  tree.end(first, 2);
  int const second = tree.begin(root, 2, 1);
  tree.end(second, 4);
  tree.end(root, 4);
  return tree;
}

} // namespace

TEST_CASE("topology: steps lead to the first place around both, and cores within so many are a range") {
  localities const tree = machine();
  CHECK(tree.distance(2, 2) == 0);
  CHECK(tree.distance(2, 3) == 1);
  CHECK(tree.distance(2, 4) == 2);
  CHECK(tree.distance(4, 3) == 2);
  CHECK(tree.inside(3, 1));
  CHECK_FALSE(tree.inside(4, 1));
  CHECK_FALSE(tree.inside(1, 3));
  keel::topology::detail::reach const near{tree, {2, 3, 4, 4}};
  auto const within = [&](int core, int steps) {
    auto const r = near.within(core, steps);
    return 10 * r.first + r.end;
  };
  CHECK(within(0, 0) == 01);
  CHECK(within(1, 0) == 12);
  CHECK(within(1, 1) == 02);
  CHECK(within(2, 0) == 24);
  CHECK(within(2, 1) == 24);
  for (int steps : {2, 3, 1000, -1}) CHECK(within(3, steps) == 04);
}

TEST_CASE("topology: speeds by latency are those to the first memory, and 100 where one of the two is unknown") {
  namespace detail = keel::topology::detail;
  auto const speeds = [](std::vector<std::uint64_t> const& row) {
    detail::numbers_to_memories latencies(row.size());
    latencies.add(row);
    return detail::speeds_by_latency(latencies, 1, int(row.size()));
  };
  CHECK(speeds({100, 50, 200, 0}) == std::vector{100, 200, 50, 100});
  CHECK(speeds({0, 50}) == std::vector{100, 100});
  CHECK(speeds({1, 1}) == std::vector{100, 100});
}
