// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds where several host threads use one instance of an execution space. See execution_space.hpp.

#include "execution_space.hpp"

#include <thread>

namespace keel::laws {

/// A kernel of one item that counts how often it met another one.
template <class Space>
struct meets {
  using value_type = long;
  Kokkos::View<int, Space> inside;
  Kokkos::View<int, Space> met;
  Kokkos::View<int, Space> busy;

  template <class... I>
  KOKKOS_FUNCTION void operator()(I const&...) const {
    if (Kokkos::atomic_fetch_add(&inside(), 1) != 0) Kokkos::atomic_add(&met(), 1);
    for (int i = 0; i < 2000; ++i) Kokkos::atomic_add(&busy(), 1);
    Kokkos::atomic_add(&inside(), -1);
  }
};

/// Adds a number for each item.
struct counts {
  int number;
  KOKKOS_FUNCTION void operator()(int, long& sum) const { sum += number; }
};

/// Launches kernels of every pattern on one instance, again and again.
template <class Space>
void launch_every_pattern(Space const& space, meets<Space> const& kernel) {
  using range = Kokkos::RangePolicy<Space>;
  using nest = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;
  Kokkos::View<long, Space> const sum("sum");
  for (int turn = 0; turn < 100; ++turn) {
    Kokkos::parallel_for("range", range(space, 0, 1), kernel);
    Kokkos::parallel_for("nest", nest(space, {0, 0}, {1, 1}), kernel);
    Kokkos::parallel_for("teams", Kokkos::TeamPolicy<Space>(space, 1, 1), kernel);
    Kokkos::parallel_reduce("sum", range(space, 0, 1), kernel, sum);
    Kokkos::parallel_reduce("sum of a nest", nest(space, {0, 0}, {1, 1}), kernel, sum);
    Kokkos::parallel_scan("scan", range(space, 0, 1), kernel);
  }
  space.fence();
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its host threads", Space,
                          execution_threads) {
  SUBCASE("kernels that two host threads launch on one instance run one after another") {
    Space const space;
    keel::laws::meets<Space> const kernel{Kokkos::View<int, Space>("inside"), Kokkos::View<int, Space>("met"),
                                          Kokkos::View<int, Space>("busy")};
    std::thread other([&] { keel::laws::launch_every_pattern(space, kernel); });
    keel::laws::launch_every_pattern(space, kernel);
    other.join();
    space.fence();
    CHECK(keel::laws::on_host(kernel.met)() == 0);
    CHECK(keel::laws::on_host(kernel.busy)() == 2 * 100 * 6 * 2000);
  }
  SUBCASE("each host thread gets its own result") {
    Space const space;
    long sums[2] = {};
    auto const work = [&](int thread) {
      for (int turn = 0; turn < 200; ++turn) {
        long sum = 0;
        Kokkos::parallel_reduce("own", Kokkos::RangePolicy<Space>(space, 0, 1000), keel::laws::counts{thread + 1}, sum);
        sums[thread] += sum;
      }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    CHECK(sums[0] == 200 * 1000);
    CHECK(sums[1] == 2 * 200 * 1000);
  }
}
