// SPDX-License-Identifier: MIT
#include <keel/space/tbb.hpp>

#include <keel/policy/macros.hpp>

#include <doctest/doctest.h>
#include <laws/execution_space.hpp>
#include <support/skip.hpp>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

/// The controls: Kokkos' own spaces keep the same laws.
TYPE_TO_STRING_AS("Kokkos' default host space", Kokkos::DefaultHostExecutionSpace);
TEST_CASE_TEMPLATE_INVOKE(execution_space, Kokkos::DefaultHostExecutionSpace);
TEST_CASE_TEMPLATE_INVOKE(execution_nests, Kokkos::DefaultHostExecutionSpace);

#if KEEL_WITH_TBB

using tbb_space = keel::space::tbb;

TYPE_TO_STRING_AS("tbb", tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_space, tbb_space);
TEST_CASE_TEMPLATE_INVOKE(execution_nests, tbb_space);

TEST_CASE("space: tbb runs a kernel on as many threads as it says") {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  auto* const lock = &mutex;
  auto* const ids = &seen;
  Kokkos::parallel_for(
      "threads", Kokkos::RangePolicy<tbb_space>(0, 64), KOKKOS_LAMBDA(int) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::lock_guard const guard(*lock);
        ids->insert(std::this_thread::get_id());
      });
  CHECK(static_cast<int>(seen.size()) <= tbb_space::concurrency());
  if (tbb_space::concurrency() > 1) CHECK(seen.size() > 1);
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
