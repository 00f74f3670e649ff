// SPDX-License-Identifier: MIT
/// @file
/// Which trees of localities are sound, so that one out of a damaged file is refused.
#include <keel/impl/topology/latencies.hpp>
#include <keel/impl/topology/localities.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

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

/// Whether the machine is sound where one number of one place is another.
bool is_sound_with(int place, int localities::locality::* number, int value) {
  localities tree = machine();
  tree.all()[std::size_t(place)].*number = value;
  return tree.is_sound();
}

} // namespace

TEST_CASE("topology: a tree of localities is sound where places lie inside their parents, in order") {
  using place = localities::locality;
  CHECK(machine().is_sound());
  CHECK_FALSE(localities{}.is_sound());
  // The root.
  CHECK_FALSE(is_sound_with(0, &place::parent, 1));
  CHECK_FALSE(is_sound_with(0, &place::end, 4));
  CHECK_FALSE(is_sound_with(0, &place::end, 6));
  CHECK_FALSE(is_sound_with(0, &place::first_core, -1));
  CHECK_FALSE(is_sound_with(0, &place::level, -1));
  CHECK_FALSE(is_sound_with(0, &place::level, 1)); // no more than its children's
  CHECK(is_sound_with(0, &place::level, 1000));
  CHECK_FALSE(is_sound_with(0, &place::level, 1001));
  CHECK(is_sound_with(0, &place::end_core, 5)); // a core that is in no package
  CHECK_FALSE(is_sound_with(0, &place::end_core, 3));
  // A place behind its own end, before its beginning, below its parent's, or in another order than the cores.
  CHECK_FALSE(is_sound_with(4, &place::end, 4));
  CHECK_FALSE(is_sound_with(4, &place::end, 6));
  CHECK_FALSE(is_sound_with(1, &place::end, 2));
  CHECK_FALSE(is_sound_with(2, &place::end, 5));
  CHECK_FALSE(is_sound_with(4, &place::parent, 1));
  CHECK_FALSE(is_sound_with(3, &place::parent, 2));
  CHECK_FALSE(is_sound_with(4, &place::first_core, 1)); // core 1 is the first package's
  CHECK(is_sound_with(4, &place::first_core, 3));
  CHECK(is_sound_with(4, &place::first_core, 4)); // no core, which a memory of its own may have
  CHECK_FALSE(is_sound_with(4, &place::first_core, 5));
  CHECK_FALSE(is_sound_with(3, &place::first_core, 0)); // core 0 is its brother's
  CHECK_FALSE(is_sound_with(3, &place::end_core, 3));
  CHECK(is_sound_with(2, &place::end_core, 0));
  CHECK_FALSE(is_sound_with(2, &place::level, -1));
  CHECK_FALSE(is_sound_with(2, &place::level, 1));
  CHECK_FALSE(is_sound_with(1, &place::level, 0)); // as its children
  localities alone;
  alone.end(alone.begin(0, 0, 0), 0);
  CHECK(alone.is_sound());
}

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

TEST_CASE("topology: latencies are sound if they have a row for each core and a column for each memory") {
  namespace detail = keel::topology::detail;
  detail::numbers_to_memories one(1), two(2);
  CHECK(one.is_sound(7, 7)); // none are known
  one.add({5});
  CHECK(one.is_sound(1, 1));
  CHECK_FALSE(one.is_sound(2, 1));
  CHECK_FALSE(one.is_sound(1, 2));
  CHECK_FALSE(one.is_sound(1, 0));
  for (auto const& row : {std::vector<std::uint64_t>{5, 6}, {6, 5}, {5, 6}}) two.add(row);
  CHECK(two.is_sound(3, 2));
  auto damaged = two;
  auto&& [memories, row_of_core, values] = damaged.parts();
  row_of_core[0] = 2; // there are two rows
  CHECK_FALSE(damaged.is_sound(3, 2));
  row_of_core[0] = 1;
  CHECK(damaged.is_sound(3, 2));
  values.push_back(7);
  CHECK_FALSE(damaged.is_sound(3, 2));
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
