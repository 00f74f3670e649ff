// SPDX-License-Identifier: MIT
#include <keel/space/start.hpp>

#include <keel/impl/space/reserved_threads.hpp>

#include <doctest/doctest.h>
#include <space/in_child.hpp>
#include <support/skip.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

// A process with threads of keel's forks. Each case is a child that starts Kokkos and forks again.

namespace {

namespace ks = keel::space;
using keel::test::check_child;
using keel::test::in_child;
using keel::test::in_fork;
using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::simulated>>;

template <class Space>
int sum_on(Space const& space) {
  int sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<Space>(space, 0, 1000), [](int i, int& s) { s += i; }, sum);
  return sum;
}

/// Adds up the ranks of the members of two teams of two, who wait for each other.
template <class Space>
int sum_in_teams(Space const& space) {
  int sum = 0;
  using policy = Kokkos::TeamPolicy<Space>;
  Kokkos::parallel_reduce(
      "teams", policy(space, 2, 2),
      [](typename policy::member_type const& team, int& s) {
        team.team_barrier();
        s += team.team_rank();
      },
      sum);
  return sum;
}

/// Uses the space, forks, and in the child uses it again and ends Kokkos; then the parent does.
template <class Space, class Use>
void check_fork(int expected, Use const& use) {
  for (bool const ends_kokkos : {true, false}) {
    auto const child = in_child([&] {
      setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
      ks::start<devices>();
      if (use(Space{}) != expected) return 1;
      int const forked = in_fork([&] {
        int const result = use(Space{}) == expected ? 0 : 2;
        if (ends_kokkos) ks::stop();
        return result;
      });
      if (forked != 0) return forked;
      if (use(Space{}) != expected) return 3;
      ks::stop();
      return 0;
    });
    CHECK(child.said == "");
    CAPTURE(child.said);
    CHECK(child.status == 0);
  }
}

} // namespace

TEST_CASE("space: the child of a fork runs kernels on the simulated device, and ends") {
  check_fork<ks::simulated>(499500, [](auto const& space) { return sum_on(space); });
}

TEST_CASE("space: the child of a fork runs kernels and teams on oneTBB, and ends") {
#if KEEL_WITH_TBB
  check_fork<ks::tbb>(499500, [](auto const& space) { return sum_on(space); });
  check_fork<ks::tbb>(2, [](auto const&) { return sum_in_teams(ks::tbb(2)); });
  ks::tbb const* kept = nullptr;
  check_child([&] {
    ks::start<devices>();
    static ks::tbb const two(2);
    kept = &two;
    if (sum_in_teams(*kept) != 2) return 1;
    return in_fork([&] { return sum_in_teams(*kept) == 2 && sum_on(*kept) == 499500 ? 0 : 2; });
  });
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("space: the child of a fork starts the threads of its teams anew, and once") {
  check_child([] {
    ks::detail::reserved_threads team;
    std::atomic<int> ran = 0;
    auto const use = [&] { team.run(3, [&](int) { ++ran; }); };
    use();
    return in_fork([&] {
      for (int n = 0; n < 4; ++n) use();
      if (ran != 5 * 3) return 2;
      std::filesystem::directory_iterator const tasks("/proc/self/task");
      return std::distance(begin(tasks), end(tasks)) == 3 ? 0 : 3;
    });
  });
}

TEST_CASE("space: a fork while a simulated kernel runs is told in the child, once, which runs none that waits for it") {
  for (bool const has_another : {false, true})
    check_child([=] {
      ks::start<devices>();
      std::atomic<bool> go = false, ran = false;
      ks::simulated const space;
      using range = Kokkos::RangePolicy<ks::simulated>;
      Kokkos::parallel_for("waits", range(0, 1), [&](int) {
        while (!go) std::this_thread::yield();
      });
      if (has_another) Kokkos::parallel_for("behind", range(0, 1), [&](int) { ran = true; });
      int const forked = in_fork([&] {
        go = true;
        try {
          space.fence();
        } catch (keel::error const& e) {
          bool const is_told = std::string(e.what()).find("left to the parent process") != std::string::npos;
          return is_told && sum_on(space) == 499500 && !ran ? 0 : 3;
        }
        return 2;
      });
      go = true;
      space.fence();
      ks::stop();
      return forked != 0 || ran == has_another ? forked : 4;
    });
}

TEST_CASE("space: a fork while another thread runs a kernel on oneTBB is told in the child") {
#if KEEL_WITH_TBB
  check_child([] {
    ks::start<devices>();
    ks::tbb const space;
    std::atomic<bool> runs = false, go = false;
    std::thread other([&] {
      Kokkos::parallel_for("waits", Kokkos::RangePolicy<ks::tbb>(space, 0, 1), [&](int) {
        runs = true;
        while (!go) std::this_thread::yield();
      });
    });
    while (!runs) std::this_thread::yield();
    int const forked = in_fork([&] {
      try {
        space.fence();
      } catch (keel::error const& e) {
        return std::string(e.what()).find("of the parent process never ends here") != std::string::npos ? 0 : 3;
      }
      return 2;
    });
    go = true;
    other.join();
    ks::stop();
    return forked;
  });
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("space: a process that does not end Kokkos waits at its end for what the simulated device was given") {
  auto const child = in_child([] {
    ks::start<devices>();
    return in_fork([] {
      Kokkos::parallel_for("slow", Kokkos::RangePolicy<ks::simulated>(0, 1), [](int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        throw std::runtime_error("too late");
      });
      return 0;
    });
  });
  CHECK(child.said.find("a kernel threw, and nothing waited for it (too late)") != std::string::npos);
  CAPTURE(child.said);
  CHECK(child.status == 0);
}

TEST_CASE("space: a kernel that threw, and that nothing waited for, is told at the end") {
  auto const child = in_child([] {
    ks::start<devices>();
    Kokkos::parallel_for("throws", Kokkos::RangePolicy<ks::simulated>(0, 1),
                         [](int) { throw std::runtime_error("no cells"); });
    ks::stop();
    return 0;
  });
  CHECK(child.said.find("a kernel threw, and nothing waited for it (no cells). Fence before the end.") !=
        std::string::npos);
  CAPTURE(child.said);
  CHECK(child.status == 0);
}
