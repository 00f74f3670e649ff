// SPDX-License-Identifier: MIT
#include <keel/space/allocations.hpp>

#include <keel/space/pool.hpp>
#include <keel/space/simulated_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

/// How many live allocations have this label, space and size.
auto count(std::string const& label, std::string const& space, std::size_t bytes) {
  auto const live = keel::space::live_allocations();
  return std::count_if(live.begin(), live.end(),
                       [&](auto const& a) { return a.label == label && a.space == space && a.bytes == bytes; });
}

} // namespace

TEST_CASE("space: what is not given back is known by label, space and size") {
  {
    Kokkos::View<double*, keel::space::pool<>> const a("lives", 10);
    auto const b = a;
    CHECK(count("lives", "pool", 80) == 1);
  }
  CHECK(count("lives", "pool", 80) == 0);
  void* const leak = Kokkos::kokkos_malloc<keel::space::simulated_memory>("leaks", 24);
  CHECK(count("leaks", "simulated", 24) == 1);
  Kokkos::kokkos_free<keel::space::simulated_memory>(leak);
  CHECK(count("leaks", "simulated", 24) == 0);
}
