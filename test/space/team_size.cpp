// SPDX-License-Identifier: MIT
/// @file
/// A team has at most as many threads as its instance; a wider one aborts with a word of advice.
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
void check_team_sizes(int threads) {
  CHECK(ask_for<Space>(1).status == 0);
  CHECK(ask_for<Space>(threads).status == 0);
  auto const more = ask_for<Space>(threads + 1);
  CHECK(more.aborted);
  CHECK(more.said.find("keel::space: a team of more threads was asked for than the instance has") != std::string::npos);
}

} // namespace

TEST_CASE("space: a team of more threads than there are aborts with a word of advice") {
  check_team_sizes<keel::space::simulated>(1);
#if KEEL_WITH_TBB
  setenv("KOKKOS_NUM_THREADS", "3", 1);
  check_team_sizes<keel::space::tbb>(3);
  unsetenv("KOKKOS_NUM_THREADS");
#endif
}
