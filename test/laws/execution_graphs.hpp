// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for graphs of work on every execution space. See execution_space.hpp.

#include "execution_space.hpp"

#include <Kokkos_Graph.hpp>

#include <algorithm>

namespace keel::laws {

/// Says when it was visited, as a number that grows.
template <class Space>
struct visited_when {
  Kokkos::View<int, Space> clock;
  Kokkos::View<int*, Space> when;
  KOKKOS_FUNCTION void operator()(int work) const { when(work) += 1 + Kokkos::atomic_fetch_add(&clock(), 1); }
};

/// A binary tree of `count` items: 2w + 1 and 2w + 2 come after w.
template <class Space>
Kokkos::Crs<int, Space, void, int> tree(int count) { // nvcc wants the type named around kernels
  using graph = Kokkos::Crs<int, Space, void, int>;
  typename graph::row_map_type const rows("rows", std::size_t(count) + 1);
  typename graph::entries_type const entries("entries", std::size_t(count) - 1);
  Kokkos::parallel_for(
      "rows", Kokkos::RangePolicy<Space>(0, count + 1),
      KOKKOS_LAMBDA(int w) { rows(w) = 2 * w < count - 1 ? 2 * w : count - 1; });
  Kokkos::parallel_for(
      "entries", Kokkos::RangePolicy<Space>(0, count - 1), KOKKOS_LAMBDA(int e) { entries(e) = e + 1; });
  Kokkos::fence();
  return graph(rows, entries);
}

/// Adds `factor` times each number to another one.
template <class Space>
struct adds {
  Kokkos::View<long const*, Space> from;
  Kokkos::View<long*, Space> to;
  long factor;
  KOKKOS_FUNCTION void operator()(int i) const { to(i) += factor * from(i); }
};
template <class Space>
struct adds_up {
  Kokkos::View<long const*, Space> left;
  Kokkos::View<long const*, Space> right;
  KOKKOS_FUNCTION void operator()(int i, long& sum) const { sum += left(i) + right(i); }
};

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its graphs", Space, execution_graphs) {
  SUBCASE("every item of a graph is visited once, after those it follows") {
    for (int count : {1, 2, 1000}) {
      keel::laws::visited_when<Space> const visit{Kokkos::View<int, Space>("clock"),
                                                  Kokkos::View<int*, Space>("when", count)};
      Kokkos::parallel_for("graph", Kokkos::WorkGraphPolicy<Space, int>(keel::laws::tree<Space>(count)), visit);
      Kokkos::fence();
      CHECK(keel::laws::on_host(visit.clock)() == count);
      auto const when = keel::laws::on_host(visit.when);
      CHECK(
          keel::laws::holds(visit.when, [&](int w) { return w == 0 ? 1 : std::max(when(w), when((w - 1) / 2) + 1); }));
    }
  }
  SUBCASE("the kernels of a graph run after those they follow, each time that it is submitted") {
    using range = Kokkos::RangePolicy<Space>;
    constexpr int n = 1000;
    Kokkos::View<long*, Space> const ones("ones", n), first("first", n), left("left", n), right("right", n);
    Kokkos::View<long, Space> const sum("sum");
    Kokkos::deep_copy(ones, 1);
    auto const graph = Kokkos::Experimental::create_graph<Space>([&](auto const& root) {
      auto const begun = root.then_parallel_for("first", range(0, n), keel::laws::adds<Space>{ones, first, 1});
      auto const one = begun.then_parallel_for("left", range(0, n), keel::laws::adds<Space>{first, left, 10});
      auto const other = begun.then_parallel_for("right", range(0, n), keel::laws::adds<Space>{first, right, 100});
      auto const both = Kokkos::Experimental::when_all(one, other);
      both.then_parallel_reduce("sum", range(0, n), keel::laws::adds_up<Space>{left, right}, sum);
    });
    CHECK(keel::laws::on_host(first)(0) == 0); // nothing has run
    long expected = 0;
    for (long time = 1; time <= 3; ++time) {
      graph.submit();
      Kokkos::fence();
      expected += 110 * time * n;
      CHECK(keel::laws::on_host(sum)() == expected);
    }
  }
}
