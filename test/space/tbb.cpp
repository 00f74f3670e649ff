// SPDX-License-Identifier: MIT
#include <keel/space/tbb.hpp>

#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <doctest/doctest.h>
#include <laws/execution_data.hpp>
#include <laws/execution_nests.hpp>
#include <laws/execution_space.hpp>
#include <laws/execution_teams.hpp>
#include <support/skip.hpp>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#if KEEL_WITH_TBB

using tbb_space = keel::space::tbb;

TYPE_TO_STRING_AS("tbb", tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_space, tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_nests, tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_teams, tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_data, tbb_space);

namespace {

/// Who came to a kernel so far. Waiting for others ends, without them, after many seconds.
class visitors {
public:
  void enter() {
    std::lock_guard const guard(mutex_);
    seen_.insert(std::this_thread::get_id());
  }
  [[nodiscard]] int count() {
    std::lock_guard const guard(mutex_);
    return static_cast<int>(seen_.size());
  }
  void wait_for(int threads) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (count() < threads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

/// How many threads run a kernel with one index for each, where every one waits for the others.
int threads_at_once(tbb_space const& space) {
  visitors all;
  auto* const seen = &all;
  int const threads = space.threads();
  Kokkos::parallel_for(
      "threads", Kokkos::RangePolicy<tbb_space>(space, 0, threads), KOKKOS_LAMBDA(int) {
        seen->enter();
        seen->wait_for(threads);
      });
  return all.count();
}
/// How many threads run a kernel with many.
int threads_in_turn(tbb_space const& space) {
  visitors all;
  auto* const seen = &all;
  Kokkos::parallel_for("threads", Kokkos::RangePolicy<tbb_space>(space, 0, 64), KOKKOS_LAMBDA(int) {
    seen->enter();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  return all.count();
}

long sum_to(tbb_space const& space, long n) {
  long sum = 0;
  Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<tbb_space>(space, 0, n), KOKKOS_LAMBDA(long i, long& s) { s += i; }, sum);
  return sum;
}

} // namespace

TEST_CASE("space: tbb runs a kernel on as many threads as it says") {
  CHECK(threads_at_once(tbb_space()) == tbb_space().threads());
  CHECK(threads_in_turn(tbb_space()) <= tbb_space().threads());
  CHECK(tbb_space().concurrency() == tbb_space().threads());
}

TEST_CASE("space: an instance of tbb has threads of its own, shared by its copies, also more than cores") {
  tbb_space const all;
  for (int threads : {1, 2, 3, 7}) {
    tbb_space const own(threads);
    CHECK(own.threads() == threads);
    CHECK(own.numa_regions() == 1);
#if KOKKOS_VERSION >= 40000
    CHECK(own.concurrency() == threads);
#endif
    auto const copy = own;
    CHECK(copy == own);
    CHECK(copy.impl_instance_id() == own.impl_instance_id());
    CHECK(own != all);
    CHECK(own != tbb_space(threads));
    CHECK(threads_at_once(own) == threads);
    CHECK(threads_in_turn(own) <= threads);
    CHECK(sum_to(copy, 10000) == 49995000);
  }
  CHECK(all == tbb_space());
  CHECK(sum_to(all, 10000) == 49995000);
}

TEST_CASE("space: instances of tbb run at once, each the right thing") {
  auto const parts = Kokkos::Experimental::partition_space(tbb_space(4), 1, 3);
  CHECK(parts[0].threads() == 1);
  CHECK(parts[1].threads() == 3);
  CHECK_THROWS_AS(Kokkos::Experimental::partition_space(tbb_space(), std::vector<int>{1, -1}), keel::error);
  bool good[2] = {true, true};
  auto const work = [&](int part) {
    for (int i = 0; i < 200; ++i)
      good[part] = good[part] && sum_to(parts[static_cast<std::size_t>(part)], 5000 + i) == (5000L + i) * (4999 + i) / 2;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  CHECK(good[0]);
  CHECK(good[1]);
}

TEST_CASE("space: threads and regions that cannot be are errors") {
  CHECK_THROWS_AS(tbb_space(0), keel::error);
  CHECK_THROWS_AS(tbb_space(1, keel::space::numa_region{tbb_space::max_numa_regions()}), keel::error);
  CHECK_THROWS_AS(tbb_space(1, keel::space::numa_region{-1}), keel::error);
  CHECK_THROWS_AS(tbb_space(keel::space::settings{.numa_regions = tbb_space::max_numa_regions() + 1}), keel::error);
  CHECK(tbb_space(keel::space::settings{}).threads() >= 1);
  tbb_space const bound(2, keel::space::numa_region{0});
  CHECK(bound.threads() == 2);
  CHECK(sum_to(bound, 1000) == 499500);
}

TEST_CASE("space: there are as many tokens as an instance has threads") {
  using token = Kokkos::Experimental::UniqueToken<tbb_space, Kokkos::Experimental::UniqueTokenScope::Instance>;
  CHECK(static_cast<int>(token().size()) == tbb_space().threads());
  CHECK(token(tbb_space(5)).size() == 5);
  CHECK(token(3, tbb_space(5)).size() == 3);
}

TEST_CASE("space: a dynamic schedule gives the next chunk to whoever is free") {
  if (tbb_space().threads() < 2) return;
  using dynamic = Kokkos::RangePolicy<tbb_space, Kokkos::Schedule<Kokkos::Dynamic>>;
  // The first index waits until another thread works on the first half, which an even cut would give to one.
  visitors all;
  auto* const seen = &all;
  Kokkos::parallel_for(
      "uneven", dynamic(tbb_space(2), 0, 64), KOKKOS_LAMBDA(int i) {
        if (i < 32) seen->enter();
        if (i == 0) seen->wait_for(2);
      });
  CHECK(all.count() == 2);
  long sum = 0;
  Kokkos::parallel_reduce("sum", dynamic(0, 1000), KOKKOS_LAMBDA(int i, long& s) { s += i; }, sum);
  CHECK(sum == 499500);
}

TEST_CASE("space: tbb gives the same bits every time") {
  Kokkos::View<double*, tbb_space> const v("v", 100000);
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<tbb_space>(0, 100000), KOKKOS_LAMBDA(int i) { v(i) = 1.0 / (i + 1); });
  auto const sum = [&] {
    double s = 0;
    Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<tbb_space>(0, 100000), KOKKOS_LAMBDA(int i, double& u) { u += v(i); }, s);
    return s;
  };
  double const first = sum();
  bool same = true;
  for (int i = 0; i < 50; ++i) same = same && sum() == first;
  CHECK(same);
}

#else

TEST_CASE("space: tbb is an execution space") { keel::test::skip("no oneTBB"); }

#endif
