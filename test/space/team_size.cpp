// SPDX-License-Identifier: MIT
/// @file
/// A team has at most as many threads as its instance; a wider one aborts with a word of advice.
#include <keel/space.hpp>

#include <doctest/doctest.h>
#include <space/in_child.hpp>

#include <string>
#include <type_traits>

namespace {

/// How a process ends that asks for a team of `size` on the space that `make` makes.
template <class Make>
keel::test::ended_child ask_for(int size, Make const& make) {
  return keel::test::in_child([&] {
    Kokkos::initialize();
    auto const space = make();
    using policy = Kokkos::TeamPolicy<std::remove_const_t<decltype(space)>>;
    using member = typename policy::member_type;
    Kokkos::parallel_for(policy(space, 4, size), KOKKOS_LAMBDA(member const&){});
    space.fence();
    Kokkos::finalize();
    return 0;
  });
}

struct simulated_of_one {
  keel::space::simulated operator()() const { return keel::space::simulated(); }
};
#if KEEL_WITH_TBB
struct tbb_of_three {
  keel::space::tbb operator()() const { return keel::space::tbb(3); }
};
#endif

template <class Make>
void check_team_sizes(int threads, Make const& make) {
  CHECK(ask_for(1, make).status == 0);
  CHECK(ask_for(threads, make).status == 0);
  auto const more = ask_for(threads + 1, make);
  CHECK(more.aborted);
  CHECK(more.said.find("keel::space: a team of more threads was asked for than the instance has") != std::string::npos);
  CHECK(more.said.find("Kokkos::AUTO") != std::string::npos);
}

} // namespace

TEST_CASE("space: a team of more threads than there are aborts with a word of advice") {
  check_team_sizes(1, simulated_of_one{});
#if KEEL_WITH_TBB
  check_team_sizes(3, tbb_of_three{});
#endif
}

TEST_CASE("space: a team has as much scratch memory as on Kokkos' own host spaces of every version") {
  using policy = Kokkos::TeamPolicy<keel::space::simulated>;
  CHECK(policy::scratch_size_max(0) == 32 << 10);
  CHECK(policy::scratch_size_max(1) == 20 << 20); // Kokkos 5 has 80 MiB on OpenMP
}
