// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for teams on every execution space, of whatever size it makes them. See execution_space.hpp.

#include "execution_space.hpp"

namespace keel::laws {

/// Says itself how much scratch memory its team wants, as Kokkos' first functors did.
template <class Space>
struct wants_scratch {
  using member = typename Kokkos::TeamPolicy<Space>::member_type;
  using scratch = Kokkos::View<int*, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  Kokkos::View<int*, Space> v;
  KOKKOS_FUNCTION void operator()(member const& team) const {
    scratch const own(team.team_shmem(), 100);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 100), [&](int i) { own(i) = i + team.league_rank(); });
    team.team_barrier();
    int sum = 0;
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, 100), [&](int i, int& s) { s += own(i); }, sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { v(team.league_rank()) = sum; });
  }
  [[nodiscard]] std::size_t team_shmem_size(int) const { return scratch::shmem_size(100); }
};

/// What holds for teams of `size` threads.
template <class Space>
void check_teams(int size) {
  using teams = Kokkos::TeamPolicy<Space>;
  using member = typename teams::member_type;
  constexpr int leagues = 40;
  Kokkos::View<long*, Space> const v("v", leagues);

  SUBCASE("every league has a team, which knows its place") {
    {
      Kokkos::parallel_for(
          "places", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
            bool const good = team.league_size() == leagues && team.team_size() == size && team.team_rank() >= 0 &&
                              team.team_rank() < size;
            Kokkos::atomic_add(&v(team.league_rank()), good ? 1L : 1000L);
          });
      CHECK(holds(v, [&](int) { return size; }));
      Kokkos::deep_copy(v, 0);
    }
    long none = -1;
    Kokkos::parallel_reduce("no league", teams(0, 1), KOKKOS_LAMBDA(member const&, long& s) { ++s; }, none);
    CHECK(none == 0);
  }
  SUBCASE("a team loops over its threads and their vectors, each index once") {
    Kokkos::View<int***, Space> const visits("visits", leagues, 13, 7);
    Kokkos::parallel_for(
        "loops", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
          int const league = team.league_rank();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 13), [&](int i) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, 7), [&](int j) { visits(league, i, j) += 1; });
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 13 * 7),
                               [&](int k) { visits(league, k / 7, k % 7) += 1; });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 2, 13), [&](int i) { visits(league, i, 0) += 1; });
        });
    CHECK(holds(visits, [](int, int i, int j) { return 2 + (j == 0 && i >= 2 ? 1 : 0); }));
  }
#if KOKKOS_VERSION >= 40000
  SUBCASE("a team shares a range of three dimensions, each index once") {
    Kokkos::View<int****, Space> const visits("visits", leagues, 5, 6, 7);
    Kokkos::parallel_for(
        "visits", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
          int const league = team.league_rank();
          Kokkos::parallel_for(Kokkos::TeamThreadMDRange<Kokkos::Rank<3>, member>(team, 5, 6, 7),
                               [&](int i, int j, int k) { visits(league, i, j, k) += 1; });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamVectorMDRange<Kokkos::Rank<3>, member>(team, 5, 6, 7),
                               [&](int i, int j, int k) { Kokkos::atomic_add(&visits(league, i, j, k), 10); });
        });
    CHECK(holds(visits, [](int, int, int, int) { return 11; }));
  }
#endif
  SUBCASE("a team reduces over its threads and vectors, with Kokkos' reducers too") {
    Kokkos::parallel_for(
        "sums", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
          int const league = team.league_rank();
          long sum = 0;
          Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, 100), [&](int i, long& s) { s += i * league; }, sum);
          long most_of = -1;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, 100),
              [&](int i, long& m) {
                if (i * 37 % 100 > m) m = i * 37 % 100;
              },
              Kokkos::Max<long>(most_of));
          long vector = 0;
          Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team, 10), [&](int j, long& s) { s += j; }, vector);
          long both = 0;
          Kokkos::parallel_reduce(Kokkos::TeamVectorRange(team, 50), [&](int j, long& s) { s += j; }, both);
          long nested = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, 10),
              [&](int, long& outer) {
                long inner = 0;
                Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team, 10), [&](int j, long& s) { s += j; }, inner);
                Kokkos::single(Kokkos::PerThread(team), [&] { outer += inner; });
              },
              nested);
          bool const good = sum == 4950L * league && most_of == 99 && vector == 45 && both == 1225 && nested == 450;
          Kokkos::single(Kokkos::PerTeam(team), [&] { v(league) = good ? 1 : -1; });
        });
    CHECK(holds(v, [](int) { return 1; }));
    double sum = 0;
    Kokkos::parallel_reduce(
        "leagues", teams(leagues, 1), KOKKOS_LAMBDA(member const& team, double& s) { s += team.league_rank(); }, sum);
    CHECK(sum == 780);
    long least = 0;
    Kokkos::parallel_reduce(
        "least", teams(leagues, 1),
        KOKKOS_LAMBDA(member const& team, long& m) {
          if (10 - team.league_rank() < m) m = 10 - team.league_rank();
        },
        Kokkos::Min<long>(least));
    CHECK(least == 10 - (leagues - 1));
  }
  SUBCASE("a team scans over its threads and vectors") {
    Kokkos::View<int**, Space> const before("before", leagues, 50);
    Kokkos::View<int**, Space> const lanes("lanes", leagues, 50);
    Kokkos::parallel_for(
        "scans", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
          int const league = team.league_rank();
          Kokkos::parallel_scan(Kokkos::TeamThreadRange(team, 50), [&](int i, int& sum, bool final) {
            if (final) before(league, i) = sum;
            sum += i;
          });
          team.team_barrier();
          Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, 50), [&](int i, int& sum, bool final) {
            sum += i;
            if (final) lanes(league, i) = sum;
          });
        });
    CHECK(holds(before, [](int, int i) { return i * (i - 1) / 2; }));
    CHECK(holds(lanes, [](int, int i) { return i * (i + 1) / 2; }));
  }
  SUBCASE("one of a team does what its others learn; they wait, add up and count") {
    Kokkos::View<long*, Space> const learnt("learnt", leagues);
    Kokkos::parallel_for(
        "one", teams(leagues, size), KOKKOS_LAMBDA(member const& team) {
          int const league = team.league_rank();
          long told = -1;
          Kokkos::single(Kokkos::PerTeam(team), [&](long& t) { t = 10 * league; }, told);
          long lane = -1;
          Kokkos::single(Kokkos::PerThread(team), [&](long& t) { t = 1; }, lane);
          long sent = team.team_rank() == 0 ? league : -5;
          team.team_broadcast(sent, 0);
          long count = 1;
          team.team_reduce(Kokkos::Sum<long>(count));
          long const mine = team.team_scan(1L); // of those before
          team.team_barrier();
          bool const good = told == 10 * league && lane == 1 && sent == league && count == team.team_size() &&
                            mine == team.team_rank();
          Kokkos::atomic_add(&learnt(league), good ? 0L : 1L);
        });
    CHECK(holds(learnt, [](int) { return 0; }));
  }
  SUBCASE("scratch memory of both levels belongs to a team, and to each of its threads") {
    using scratch = Kokkos::View<double*, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
    CHECK(teams::scratch_size_max(0) >= 16 * 1024);
    CHECK(teams::scratch_size_max(1) >= 1024 * 1024);
    for (int level : {0, 1}) {
      int const n = level == 0 ? 64 : 40000; // the second is larger than any cache near a core
      auto const policy = teams(leagues, size)
                              .set_scratch_size(level, Kokkos::PerTeam(2 * scratch::shmem_size(n)),
                                                Kokkos::PerThread(scratch::shmem_size(16)));
      Kokkos::View<double*, Space> const sums("sums", leagues);
      Kokkos::parallel_for(
          "scratch", policy, KOKKOS_LAMBDA(member const& team) {
            scratch const first(team.team_scratch(level), n);
            scratch const second(team.team_scratch(level), n);
            scratch const own(team.thread_scratch(level), 16);
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
              first(i) = team.league_rank();
              second(i) = i;
            });
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, 16), [&](int i) { own(i) = 1000 * team.team_rank(); });
            team.team_barrier();
            Kokkos::View<double const*, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged> const fixed =
                first;
            auto const rest = Kokkos::subview(second, Kokkos::make_pair(1, n)); // without the first
            double sum = 0;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, n),
                [&](int i, double& s) {
                  s += fixed(i) + (i > 0 ? rest(i - 1) : 0) + own(15) - 1000 * team.team_rank();
                },
                sum);
            Kokkos::single(Kokkos::PerTeam(team), [&] { sums(team.league_rank()) = sum; });
          });
      CHECK(holds(sums, [&](int l) { return double(n) * l + 0.5 * n * (n - 1); }));
    }
#if KOKKOS_VERSION >= 40600 // before, Kokkos counts such bytes in an int
    bool const has_room =
        std::size_t(teams::scratch_size_max(1)) >= std::size_t{3} << 30; // Kokkos' own OpenMP has 20 MB for each thread
    auto const large = teams(1, size).set_scratch_size(1, Kokkos::PerTeam(std::size_t{3} << 30));
    Kokkos::View<int, Space> const reached("reached");
    if (has_room)
      Kokkos::parallel_for(
          "large", large, KOKKOS_LAMBDA(member const& team) {
            char* const all = static_cast<char*>(team.team_scratch(1).get_shmem(std::size_t{3} << 30));
            if (team.team_rank() == 0 && all != nullptr) all[(std::size_t{3} << 30) - 1] = 1, reached() = 1;
          });
    CHECK(on_host(reached)() == int(has_room));
#endif
    Kokkos::View<int*, Space> const asked("asked", leagues);
    Kokkos::parallel_for("asked", teams(leagues, 1), wants_scratch<Space>{asked});
    CHECK(holds(asked, [](int l) { return 4950 + 100 * l; }));
  }
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its teams", Space, execution_teams) {
  using teams = Kokkos::TeamPolicy<Space>;
  using member = typename teams::member_type;
  auto const nothing = KOKKOS_LAMBDA(member const&){};
  int const best = teams(40, Kokkos::AUTO).team_size_recommended(nothing, Kokkos::ParallelForTag());
  int const most = teams(40, 1).team_size_max(nothing, Kokkos::ParallelForTag());
  CHECK(best >= 1);
  CHECK(most >= best);
  SUBCASE("of one thread") { keel::laws::check_teams<Space>(1); }
  SUBCASE("of the size that the space recommends") { keel::laws::check_teams<Space>(best); }
  SUBCASE("of the most threads that it takes") { keel::laws::check_teams<Space>(most); }
}
