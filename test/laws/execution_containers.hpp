// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for Kokkos' containers, random numbers and sorting on every execution space; Kokkos has them in headers
/// beside its core. See execution_space.hpp.

#include "execution_space.hpp"

#include <Kokkos_Random.hpp>
#include <Kokkos_ScatterView.hpp>
#include <Kokkos_Sort.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace keel::laws {

/// Draws a number for each item from a pool of states.
template <class Space, class Pool>
struct draws {
  Pool pool;
  Kokkos::View<std::uint64_t*, Space> drawn;
  KOKKOS_FUNCTION void operator()(int i) const {
    auto state = pool.get_state();
    drawn(i) = state.urand64();
    pool.free_state(state);
  }
};

/// Whether threads that draw at the same time draw different numbers: two with the same state would draw the same.
template <class Space, class Pool>
bool draws_no_number_twice() {
  Kokkos::View<std::uint64_t*, Space> const drawn("drawn", 200000);
  Kokkos::parallel_for("draw", Kokkos::RangePolicy<Space>(0, 200000), draws<Space, Pool>{Pool(7), drawn});
  auto const host = on_host(drawn);
  std::vector<std::uint64_t> numbers(host.data(), host.data() + host.extent(0));
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its containers", Space,
                          execution_containers) {
  namespace laws = keel::laws;
  using range = Kokkos::RangePolicy<Space>;

  SUBCASE("a scatter view loses nothing, as Kokkos chooses it, also through two accesses of one thread") {
    constexpr int n = 200'000;
    Kokkos::View<double*, Space> sums("sums", 10); // Kokkos 3 contributes to no constant
    auto scatter = Kokkos::Experimental::create_scatter_view(sums);
    Kokkos::parallel_for(
        "scatter", range(0, n), KOKKOS_LAMBDA(int i) {
          auto const one = scatter.access();
          auto const other = scatter.access();
          one(i % 10) += 1;
          other((i + 1) % 10) += 2;
        });
    Kokkos::Experimental::contribute(sums, scatter);
    CHECK(laws::holds(sums, [](int) { return 3 * n / 10; }));
  }
  SUBCASE("random numbers are different on threads that draw at once, in range, and spread") {
    using pool = Kokkos::Random_XorShift64_Pool<Space>;
    CHECK(laws::draws_no_number_twice<Space, pool>());
    CHECK(laws::draws_no_number_twice<Space, Kokkos::Random_XorShift1024_Pool<Space>>());
    Kokkos::View<double*, Space> const v("v", 100'000);
    Kokkos::fill_random(v, pool(3), 2.0, 4.0);
    auto const host = laws::on_host(v);
    auto const [least, most] = std::minmax_element(host.data(), host.data() + host.extent(0));
    CHECK(laws::total(v) / 100'000 == doctest::Approx(3).epsilon(0.01));
    CHECK(*least >= 2);
    CHECK(*least < 2.01);
    CHECK(*most < 4);
    CHECK(*most > 3.99);
  }
  SUBCASE("a view is sorted, by a comparator too") {
    Kokkos::View<int*, Space> const v("v", 5000);
    Kokkos::parallel_for("mix", range(0, 5000), KOKKOS_LAMBDA(int i) { v(i) = i * 37 % 5000; });
    Kokkos::sort(v);
    CHECK(laws::holds(v, [](int i) { return i; }));
#if KOKKOS_VERSION >= 40200
    Kokkos::parallel_for("mix", range(0, 5000), KOKKOS_LAMBDA(int i) { v(i) = i * 37 % 5000; });
    Kokkos::sort(Space(), v, KOKKOS_LAMBDA(int a, int b) { return a > b; });
    CHECK(laws::holds(v, [](int i) { return 4999 - i; }));
#endif
  }
}
