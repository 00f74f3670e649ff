// SPDX-License-Identifier: MIT
/// @file
/// A team on keel's own execution spaces is one thread wide, and says so to who wants more.
#include <keel/space.hpp>

#include <doctest/doctest.h>
#include <space/in_child.hpp>

#include <string>

namespace {

/// How a process ends that asks for a team of `size`.
template <class Space>
keel::test::ended_child ask_for(int size) {
  return keel::test::in_child([size] {
    Kokkos::initialize();
    using policy = Kokkos::TeamPolicy<Space>;
    using member = typename policy::member_type;
    Kokkos::parallel_for(policy(4, size), KOKKOS_LAMBDA(member const&) {});
    Kokkos::fence();
    Kokkos::finalize();
    return 0;
  });
}

template <class Space>
void check_team_sizes() {
  CHECK(ask_for<Space>(1).status == 0);
  auto const two = ask_for<Space>(2);
  CHECK(two.aborted);
  CHECK(two.said.find("keel::space: a team of more than one thread was asked for") != std::string::npos);
}

} // namespace

TEST_CASE("space: a team of more than one thread aborts with a word of advice") {
  check_team_sizes<keel::space::simulated>();
#if KEEL_WITH_TBB
  check_team_sizes<keel::space::tbb>();
#endif
}
