// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for graphs of kernels on every execution space. See execution_space.hpp.

#include "execution_space.hpp"

#include <Kokkos_Graph.hpp>

namespace keel::laws {

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
