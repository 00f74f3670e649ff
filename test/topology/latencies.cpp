// SPDX-License-Identifier: MIT
/// @file
/// Speeds of memories by latency; the rest is seen at whole machines.
#include <keel/impl/topology/inventory.hpp>

#include <support/test.hpp>

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
