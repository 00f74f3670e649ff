// SPDX-License-Identifier: MIT
#include <keel/space/start.hpp>

#include <support/test.hpp>
#include <space/in_child.hpp>

#include <atomic>
#include <chrono>
#include <thread>

// A process with threads of keel's forks. Each case is a child that starts Kokkos and forks again.

namespace {

namespace ks = keel::space;
using keel::test::in_child;
using keel::test::in_fork;
using devices = keel::where_supported<keel::list<keel::serial, keel::tbb, keel::simulated>>;

template <class Space>
int sum(Space const& space) {
  int all = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<Space>(space, 0, 1000), [](int i, int& s) { s += i; }, all);
  return all;
}

/// In the child of a fork kernels throw, fences return, and it ends; its parent computes on.
template <class Space>
void check_fork(Space (*make)()) {
  for (bool const ends_kokkos : {true, false}) {
    auto const child = in_child([&] {
      setenv("OMP_PROC_BIND", "false", 1); // else Kokkos' OpenMP has something to say
      ks::start<devices>();
      auto const space = make();
      std::atomic<bool> go = false, runs = false;
      std::thread other([&] { // a kernel that runs meanwhile
        Kokkos::parallel_for("waits", Kokkos::RangePolicy<Space>(space, 0, 1), [&](int) {
          runs = true;
          while (!go) std::this_thread::yield();
        });
      });
      while (!runs) std::this_thread::yield();
      int const forked = in_fork([&] {
        space.fence();
        auto const said = keel::test::message_of([&] { (void)sum(space); });
        if (ends_kokkos) ks::stop();
        return said.find("cannot run (fork() copies no threads") != std::string::npos;
      });
      go = true;
      other.join();
      if (forked != 0) return forked;
      if (sum(space) != 499500) return 3;
      ks::stop();
      return 0;
    });
    CHECK(child.said == "");
    CHECK_MESSAGE(child.status == 0, child.said);
  }
}

} // namespace

TEST_CASE("space: the child of a fork runs no kernels on the simulated device, and ends") {
  check_fork<ks::simulated>([] { return ks::simulated(); });
}

TEST_CASE("space: the child of a fork runs no kernels on oneTBB, and ends") {
#if KEEL_WITH_TBB
  check_fork<ks::tbb>([] { return ks::tbb(); });
  check_fork<ks::tbb>([] { return ks::tbb(2); });
#else
  keel::test::skip("no oneTBB");
#endif
}

TEST_CASE("space: a kernel that threw, and that nothing waited for, is told at the end of Kokkos or of the process") {
  for (bool const ends_kokkos : {true, false}) {
    auto const child = in_child([&] {
      return in_fork([&] { // which ends in order
        ks::start<devices>();
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
