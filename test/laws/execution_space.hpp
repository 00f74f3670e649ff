// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for every execution space, in the order in which Kokkos brings up a new one: here its start, allocation,
/// copies, loops, reductions and scans. Instantiate with the space, Kokkos running:
/// `TEST_CASE_TEMPLATE_INVOKE(execution_space, my_space);` and so on with the headers beside: execution_nests,
/// execution_teams, execution_data, execution_containers, execution_graphs, execution_threads and
/// execution_tools.

#include <keel/space/kokkos.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace keel::laws {

/// The view on the host.
template <class View>
auto on_host(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Whether each element of a view on the host is `f` of its indices; `i` are the first of them.
template <class Host, class F, class... I>
bool holds_on_host(Host const& host, F const& f, I... i) {
  if constexpr (sizeof...(I) == std::size_t(Host::rank)) {
    return host(i...) == f(i...);
  } else {
    bool good = true;
    for (int next = 0; next < int(host.extent(sizeof...(I))); ++next) good = good && holds_on_host(host, f, i..., next);
    return good;
  }
}
template <class View, class F>
bool holds(View const& view, F const& f) {
  return holds_on_host(on_host(view), f);
}

/// The sum of the elements of a row.
template <class View>
auto total(View const& row) {
  auto const host = on_host(row);
  typename View::non_const_value_type sum = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i) sum += host(i);
  return sum;
}

/// Every number from 0 to 999 once, for as many indices; 0 at 297.
KOKKOS_FUNCTION inline int mixed(int i) { return (i * 37 + 11) % 1000; }

struct doubled {};
struct summed {};

/// Chooses by tag what to do.
template <class Space>
struct tagged {
  Kokkos::View<int*, Space> v;
  KOKKOS_FUNCTION void operator()(doubled, int i) const { v(i) = 2 * i; }
  KOKKOS_FUNCTION void operator()(summed, int i, long& sum) const { sum += v(i); }
};

/// Reduces into an array whose length is known at run time only.
struct three_sums {
  using value_type = double[];
  int value_count = 3;
  KOKKOS_FUNCTION void operator()(int i, double* sum) const {
    for (int k = 0; k < 3; ++k) sum[k] += i * (k + 1);
  }
  KOKKOS_FUNCTION void init(double* sum) const {
    for (int k = 0; k < 3; ++k) sum[k] = 0;
  }
  template <class To, class From> // Kokkos 3 joins through volatile pointers
  KOKKOS_FUNCTION void join(To* to, From* from) const {
    for (int k = 0; k < 3; ++k) to[k] = to[k] + from[k];
  }
};

/// A user's own type, joined by the functor. A reduction ends with a step of its own; a scan says what was so far.
struct least_and_most {
  int least;
  int most;
};
template <class Space>
struct bounds {
  using value_type = least_and_most;
  Kokkos::View<int*, Space> most;
  KOKKOS_FUNCTION void operator()(int i, value_type& b) const {
    int const x = mixed(i);
    if (x < b.least) b.least = x;
    if (x > b.most) b.most = x;
  }
  KOKKOS_FUNCTION void operator()(int i, value_type& b, bool is_last) const {
    (*this)(i, b);
    if (is_last) most(i) = b.most;
  }
  KOKKOS_FUNCTION void init(value_type& b) const { b = {1000, -1}; }
  template <class To, class From>
  KOKKOS_FUNCTION void join(To& to, From& from) const {
    if (from.least < to.least) to.least = from.least;
    if (from.most > to.most) to.most = from.most;
  }
  KOKKOS_FUNCTION void final(value_type& b) const { b.most *= 2; }
};

/// A loop of a reducer's own joins.
template <class Reducer, class F>
struct joined {
  using value_type = typename Reducer::value_type;
  F f;
  KOKKOS_FUNCTION void operator()(int i, value_type& so_far) const { Reducer(so_far).join(so_far, f(i)); }
};

/// What `Reducer` makes of `f(i)` for i = 0 … n - 1, in a scalar of the host.
template <class Space, class Reducer, class F>
typename Reducer::value_type reduced(int n, F const& f) {
  typename Reducer::value_type result;
  Kokkos::parallel_reduce("reduced", Kokkos::RangePolicy<Space>(0, n), joined<Reducer, F>{f}, Reducer(result));
  return result;
}

} // namespace keel::laws

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its loops", Space, execution_space) {
  namespace laws = keel::laws;
  using range = Kokkos::RangePolicy<Space>;

  SUBCASE("it is one for Kokkos, runs, has a name, and says how it is configured") {
    CHECK(Kokkos::is_execution_space<Space>::value);
    CHECK(Kokkos::SpaceAccessibility<Space, typename Space::memory_space>::accessible);
    CHECK(!std::string(Space::name()).empty());
    CHECK(Space().concurrency() >= 1);
    std::ostringstream out;
    Space().print_configuration(out);
    Space().fence();
  }
  SUBCASE("its memory is allocated, filled and copied, with an instance or without") {
    using view = Kokkos::View<double**, Space>;
    Space const space;
    view const a(Kokkos::view_alloc("a", space), 700, 50); // more than one thread copies
    view const b("b", 700, 50);
    CHECK(view("none", 0, 50).span() == 0);
    Kokkos::deep_copy(a, 1.5);
    Kokkos::deep_copy(space, b, a);
    space.fence();
    CHECK(laws::holds(b, [](int, int) { return 1.5; }));
    auto const host = Kokkos::create_mirror(b);
    host(3, 2) = -2;
    Kokkos::deep_copy(space, b, host);
    space.fence();
    Kokkos::View<double*, Space> const row("row", 50);
    Kokkos::deep_copy(row, Kokkos::subview(b, 3, Kokkos::ALL)); // strided where the layout is left
    CHECK(laws::holds(row, [](int j) { return j == 2 ? -2 : 0; }));
    CHECK(laws::on_host(Kokkos::create_mirror_view_and_copy(Space(), host))(3, 2) == -2);
  }
  SUBCASE("chunks, schedules, index types and instances change nothing") {
    Kokkos::View<int*, Space> const v("v", 1001);
    auto const body = KOKKOS_LAMBDA(int i) { v(i) += 1; };
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Static>>(Space(), 0, 1001), body);
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, 1001), body);
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<unsigned>>(0, 1001), body);
    auto chunked = Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<long>>(0, 1001);
    Kokkos::parallel_for(chunked.set_chunk_size(7), body);
    CHECK(laws::holds(v, [](int) { return 4; }));
    long sum = -1;
    Kokkos::parallel_reduce(
        Kokkos::RangePolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>>(0, 1001),
        KOKKOS_LAMBDA(int i, long& s) { s += v(i); }, sum);
    CHECK(sum == 4 * 1001);
  }
  SUBCASE("a loop visits every index once, a sum has each, and a scan those before, also of none and of one") {
    for (long n : {0, 1, 2, 3, 1000, 4099}) {
      Kokkos::View<long*, Space> const v("v", n);
      auto const before = [](long i) { return i * (i - 1) / 2; };
      Kokkos::parallel_for("visit", range(0, n), KOKKOS_LAMBDA(long i) { v(i) += i + 1; });
      CHECK(laws::holds(v, [](int i) { return i + 1; }));
      long sum = -1, last = -1;
      Kokkos::parallel_reduce("sum", range(0, n), KOKKOS_LAMBDA(long i, long& s) { s += i; }, sum);
      CHECK(sum == before(n));
      auto const body = KOKKOS_LAMBDA(long i, long& s, bool is_last) {
        if (is_last) v(i) = s;
        s += i;
      };
      Kokkos::parallel_scan("scan", range(0, n), body, last);
      CHECK(last == before(n));
      CHECK(laws::holds(v, before));
      Kokkos::deep_copy(v, -1);
      Kokkos::parallel_scan("scan", range(0, n), body);
      Kokkos::fence();
      CHECK(laws::holds(v, before));
    }
  }
  SUBCASE("a loop may begin below zero, and has a tag") {
    Kokkos::View<int*, Space> const v("v", 9);
    Kokkos::parallel_for(
        "below", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(-4, 5), KOKKOS_LAMBDA(int i) { v(i + 4) = i; });
    CHECK(laws::on_host(v)(0) == -4);
    laws::tagged<Space> const functor{v};
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, laws::doubled>(0, 9), functor);
    CHECK(laws::on_host(v)(8) == 16);
    long sum = 0;
    Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, laws::summed>(0, 9), functor, sum);
    CHECK(sum == 72);
  }
  SUBCASE("Kokkos' reducers of numbers, bits, truths and places") {
    CHECK(laws::reduced<Space, Kokkos::Sum<long>>(1000, KOKKOS_LAMBDA(int i) { return i; }) == 499500);
    CHECK(laws::reduced<Space, Kokkos::Prod<long>>(10, KOKKOS_LAMBDA(int i) { return i + 1; }) == 3628800);
    CHECK(laws::reduced<Space, Kokkos::Max<double>>(1000, KOKKOS_LAMBDA(int i) { return laws::mixed(i); }) == 999);
    auto const below = KOKKOS_LAMBDA(int i) { return laws::mixed(i) - 500; };
    CHECK(laws::reduced<Space, Kokkos::Min<int>>(1000, below) == -500);
    CHECK(laws::reduced<Space, Kokkos::Min<int>>(0, below) == std::numeric_limits<int>::max());
    CHECK(laws::reduced<Space, Kokkos::LAnd<int>>(1000, KOKKOS_LAMBDA(int i) { return i != 700; }) == 0);
    CHECK(laws::reduced<Space, Kokkos::LOr<int>>(1000, KOKKOS_LAMBDA(int i) { return i == 700; }) == 1);
    CHECK(laws::reduced<Space, Kokkos::BAnd<unsigned>>(16, KOKKOS_LAMBDA(int i) { return ~(1u << i); }) == 0xffff0000u);
    using min_max_loc = typename Kokkos::MinMaxLoc<int, int>::value_type;
    auto const where = laws::reduced<Space, Kokkos::MinMaxLoc<int, int>>(
        1000, KOKKOS_LAMBDA(int i) { return min_max_loc{laws::mixed(i), laws::mixed(i), i, i}; });
    CHECK(where.min_loc == 297);
    CHECK(laws::mixed(where.max_loc) == 999);
  }
  SUBCASE("user's types and functors, of scans too") {
    laws::bounds<Space> const functor{Kokkos::View<int*, Space>("most", 1000)};
    laws::least_and_most b{};
    Kokkos::parallel_reduce("bounds", range(0, 1000), functor, b);
    CHECK(b.least == 0);
    CHECK(b.most == 2 * 999);
    Kokkos::parallel_scan("bounds", range(0, 1000), functor, b);
    CHECK(b.most == 999);
    int so_far = -1;
    CHECK(laws::holds(functor.most, [&](int i) { return so_far = std::max(so_far, laws::mixed(i)); }));
  }
  SUBCASE("arrays and several numbers are reduced, into scalars and views, here and there") {
    double three[3] = {-1, -1, -1};
    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const sums(three, 3);
    Kokkos::parallel_reduce("three", range(0, 1000), laws::three_sums{}, sums);
    Kokkos::fence();
    CHECK(three[2] == 3 * 499500.0);
    Kokkos::View<long, Space> const there("there");
    Kokkos::parallel_reduce("there", range(0, 100), KOKKOS_LAMBDA(long i, long& s) { s += i; }, there);
    Space().fence();
    CHECK(laws::on_host(there)() == 4950);
    long left = 0;
    double right = 0;
    Kokkos::parallel_reduce(
        "two", range(0, 100),
        KOKKOS_LAMBDA(int i, long& l, double& r) {
          l += i;
          r += 0.5;
        },
        left, right);
    CHECK(left == 4950);
    CHECK(right == 50);
  }
}
