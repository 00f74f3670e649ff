// SPDX-License-Identifier: MIT
#include <keel/space/start.hpp>

#include <keel/impl/space/reserved_threads.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

// A process with threads of keel's forks. Each case is a child that starts Kokkos and forks again.

namespace {

namespace ks = keel::space;
using keel::test::check_child;
using keel::test::in_child;
using keel::test::in_fork;
using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::simulated>>;

/// Whether a sum has all of its items.
template <class Space>
bool sums(Space const& space) {
  int sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<Space>(space, 0, 1000), [](int i, int& s) { s += i; }, sum);
  return sum == 499500;
}

/// Whether two teams of two, whose members wait for each other, add up their ranks.
template <class Space>
bool sums_in_teams(Space const& space) {
  int sum = 0;
  using policy = Kokkos::TeamPolicy<Space>;
  Kokkos::parallel_reduce(
      "teams", policy(space, 2, 2),
      [](typename policy::member_type const& team, int& s) {
        team.team_barrier();
        s += team.team_rank();
      },
      sum);
  return sum == 2;
}

/// Uses the space, forks, and in the child uses it again and ends Kokkos; then the parent does.
template <class Use>
void check_fork(Use const& use) {
  for (bool const ends_kokkos : {true, false}) {
    auto const child = in_child([&] {
      setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
      ks::start<devices>();
      if (!use()) return 1;
      int const forked = in_fork([&] {
        int const result = use() ? 0 : 2;
        if (ends_kokkos) ks::stop();
        return result;
      });
      if (forked != 0) return forked;
      if (!use()) return 3;
      ks::stop();
      return 0;
    });
    CHECK(child.said == "");
    CHECK_MESSAGE(child.status == 0, child.said);
  }
}

/// Whether `f` throws an error with these words.
template <class F>
bool is_told(char const* words, F const& f) {
  return keel::test::message_of(f).find(words) != std::string::npos;
}

} // namespace

TEST_CASE("space: the child of a fork runs kernels on the simulated device, and ends") {
  check_fork([] { return sums(ks::simulated()); });
}

TEST_CASE("space: the child of a fork runs kernels and teams on oneTBB, and ends") {
#if KEEL_WITH_TBB
  check_fork([] { return sums(ks::tbb()); });
  check_fork([] { return sums_in_teams(ks::tbb(2)); });
  check_child([] {
    ks::start<devices>();
    static ks::tbb const kept(2);
    return sums_in_teams(kept) && in_fork([] { return sums_in_teams(kept) && sums(kept); }) == 0;
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
        return is_told("left to the parent process", [&] { space.fence(); }) && sums(space) && !ran;
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
    int const forked =
        in_fork([&] { return is_told("of the parent process never ends here", [&] { space.fence(); }); });
    go = true;
    other.join();
    ks::stop();
    return forked;
  });
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("space: a kernel that threw, and that nothing waited for, is told at the end of Kokkos or of the process") {
  for (bool const ends_kokkos : {true, false}) {
    auto const child = in_child([&] {
      ks::start<devices>();
      return in_fork([&] {
        Kokkos::parallel_for("slow", Kokkos::RangePolicy<ks::simulated>(0, 1), [](int) {
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          throw std::runtime_error("too late");
        });
        if (ends_kokkos) ks::stop();
        return 0;
      });
    });
    CHECK(child.said.find("a kernel threw, and nothing waited for it (too late). Fence before the end.") !=
          std::string::npos);
    CHECK_MESSAGE(child.status == 0, child.said);
  }
}
