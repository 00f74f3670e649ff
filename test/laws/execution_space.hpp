// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What holds for every execution space, in the order in which Kokkos brings up a new one. Instantiate with the
/// space, Kokkos running: `TEST_CASE_TEMPLATE_INVOKE(execution_space, my_space);`

#include <keel/space/kokkos.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <type_traits>

namespace keel::laws {

/// The view on the host.
template <class View>
auto on_host(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

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

/// A user's own type, joined by the functor.
struct least_and_most {
  int least;
  int most;
};
struct bounds {
  using value_type = least_and_most;
  KOKKOS_FUNCTION void operator()(int i, value_type& b) const {
    int const x = (i * 37 + 11) % 1000;
    if (x < b.least) b.least = x;
    if (x > b.most) b.most = x;
  }
  KOKKOS_FUNCTION void init(value_type& b) const { b = {1000, -1}; }
  template <class To, class From>
  KOKKOS_FUNCTION void join(To& to, From& from) const {
    if (from.least < to.least) to.least = from.least;
    if (from.most > to.most) to.most = from.most;
  }
};

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
  SUBCASE("a loop visits every index once, also none, also one") {
    for (int n : {0, 1, 2, 3, 1000, 4099}) {
      Kokkos::View<int*, Space> const v("v", n);
      Kokkos::parallel_for("visit", range(0, n), KOKKOS_LAMBDA(int i) { v(i) += i + 1; });
      auto const host = laws::on_host(v);
      bool good = true;
      for (int i = 0; i < n; ++i) good = good && host(i) == i + 1;
      CHECK(good);
    }
  }
  SUBCASE("a loop may begin below zero, and has a tag") {
    Kokkos::View<int*, Space> const v("v", 9);
    Kokkos::parallel_for("below", Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(-4, 5), KOKKOS_LAMBDA(int i) { v(i + 4) = i; });
    CHECK(laws::on_host(v)(0) == -4);
    laws::tagged<Space> const functor{v};
    Kokkos::parallel_for(Kokkos::RangePolicy<Space, laws::doubled>(0, 9), functor);
    CHECK(laws::on_host(v)(8) == 16);
    long sum = 0;
    Kokkos::parallel_reduce(Kokkos::RangePolicy<Space, laws::summed>(0, 9), functor, sum);
    CHECK(sum == 72);
  }
  SUBCASE("a sum is one, of many, of one and of none") {
    for (long n : {0, 1, 2, 3, 10000}) {
      long sum = -1;
      Kokkos::parallel_reduce("sum", range(0, n), KOKKOS_LAMBDA(long i, long& s) { s += i; }, sum);
      CHECK(sum == n * (n - 1) / 2);
    }
  }
  SUBCASE("Kokkos' reducers find the greatest, the least, the product and where") {
    double most = -1;
    Kokkos::parallel_reduce(
        "max", range(0, 1000), KOKKOS_LAMBDA(int i, double& m) { if (i * 37 % 1000 > m) m = i * 37 % 1000; },
        Kokkos::Max<double>(most));
    CHECK(most == 999);
    using min_loc = Kokkos::MinLoc<double, int>;
    typename min_loc::value_type least;
    Kokkos::parallel_reduce(
        "min", range(0, 1000),
        KOKKOS_LAMBDA(int i, typename min_loc::value_type& m) {
          double const x = (i - 700) * (i - 700);
          if (x < m.val) m = {x, i};
        },
        min_loc(least));
    CHECK(least.loc == 700);
    long product = 0;
    Kokkos::parallel_reduce("product", range(1, 11), KOKKOS_LAMBDA(int i, long& p) { p *= i; }, Kokkos::Prod<long>(product));
    CHECK(product == 3628800);
  }
  SUBCASE("arrays and user's types are reduced, into scalars and views, here and there") {
    double three[3] = {-1, -1, -1};
    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const sums(three, 3);
    Kokkos::parallel_reduce("three", range(0, 1000), laws::three_sums{}, sums);
    Kokkos::fence();
    CHECK(three[2] == 3 * 499500.0);
    laws::least_and_most b{};
    Kokkos::parallel_reduce("bounds", range(0, 1000), laws::bounds{}, b);
    CHECK(b.least == 0);
    CHECK(b.most == 999);
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
  SUBCASE("a scan sums what came before, with and without total") {
    for (long n : {0, 1, 2, 1000, 4099}) {
      Kokkos::View<long*, Space> const v("v", n);
      long total = -1;
      auto const body = KOKKOS_LAMBDA(long i, long& sum, bool final) {
        if (final) v(i) = sum;
        sum += i;
      };
      Kokkos::parallel_scan("scan", range(0, n), body, total);
      CHECK(total == n * (n - 1) / 2);
      auto host = laws::on_host(v);
      bool good = true;
      for (long i = 0; i < n; ++i) good = good && host(i) == i * (i - 1) / 2;
      CHECK(good);
      Kokkos::deep_copy(v, -1);
      Kokkos::parallel_scan("scan", range(0, n), body);
      Kokkos::fence();
      host = laws::on_host(v);
      for (long i = 0; i < n; ++i) good = good && host(i) == i * (i - 1) / 2;
      CHECK(good);
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("space: an execution space keeps the laws of one, its nests and teams", Space, execution_nests) {
  namespace laws = keel::laws;
  using range = Kokkos::RangePolicy<Space>;
  using teams = Kokkos::TeamPolicy<Space>;
  using member = typename teams::member_type;

  SUBCASE("a nest of loops visits every point once, in tiles or not, and reduces") {
    Kokkos::View<int**, Space> const v("v", 37, 53);
    using nest = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>;
    Kokkos::parallel_for("nest", nest({0, 0}, {37, 53}), KOKKOS_LAMBDA(int i, int j) { v(i, j) += 100 * i + j; });
    Kokkos::parallel_for("tiled", nest({1, 2}, {36, 50}, {4, 7}), KOKKOS_LAMBDA(int i, int j) { v(i, j) += 1; });
    auto const host = laws::on_host(v);
    bool good = true;
    for (int i = 0; i < 37; ++i)
      for (int j = 0; j < 53; ++j) {
        int const inside = i >= 1 && i < 36 && j >= 2 && j < 50;
        good = good && host(i, j) == 100 * i + j + inside;
      }
    CHECK(good);
    long sum = 0;
    Kokkos::parallel_reduce("reduced", nest({0, 0}, {37, 53}), KOKKOS_LAMBDA(int i, int j, long& s) { s += i * j; }, sum);
    CHECK(sum == 36L * 37 / 2 * (52 * 53 / 2));
    long none = -1;
    Kokkos::parallel_reduce("none", nest({0, 0}, {0, 53}), KOKKOS_LAMBDA(int, int, long& s) { ++s; }, none);
    CHECK(none == 0);
  }
  SUBCASE("a nest runs its inner loop where it is told") {
    using left = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>>;
    using right = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Right, Kokkos::Iterate::Right>>;
    Kokkos::View<int***, Space> const v("v", 5, 6, 7);
    Kokkos::parallel_for("left", left({0, 0, 0}, {5, 6, 7}), KOKKOS_LAMBDA(int i, int j, int k) { v(i, j, k) += 1; });
    Kokkos::parallel_for("right", right({0, 0, 0}, {5, 6, 7}), KOKKOS_LAMBDA(int i, int j, int k) { v(i, j, k) += 1; });
    long sum = 0;
    Kokkos::parallel_reduce(
        "all", right({0, 0, 0}, {5, 6, 7}), KOKKOS_LAMBDA(int i, int j, int k, long& s) { s += v(i, j, k) == 2; }, sum);
    CHECK(sum == 5 * 6 * 7);
  }
  SUBCASE("every league has a team that loops and reduces") {
    Kokkos::View<double*, Space> const v("v", 64);
    Kokkos::parallel_for(
        "team", teams(64, Kokkos::AUTO), KOKKOS_LAMBDA(member const& team) {
          double sum = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, 100), [&](int i, double& s) { s += i * team.league_rank(); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&] { v(team.league_rank()) = sum; });
          team.team_barrier();
        });
    auto const host = laws::on_host(v);
    bool good = true;
    for (int i = 0; i < 64; ++i) good = good && host(i) == 4950.0 * i;
    CHECK(good);
    double sum = 0;
    Kokkos::parallel_reduce(
        "leagues", teams(64, 1), KOKKOS_LAMBDA(member const& team, double& s) { s += team.league_rank(); }, sum);
    CHECK(sum == 2016);
  }
  SUBCASE("a team has scratch memory of its own") {
    using scratch = Kokkos::View<double*, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;
    double sum = 0;
    Kokkos::parallel_reduce(
        "scratch", teams(64, 1).set_scratch_size(0, Kokkos::PerTeam(scratch::shmem_size(16))),
        KOKKOS_LAMBDA(member const& team, double& s) {
          scratch const own(team.team_scratch(0), 16);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 16), [&](int i) { own(i) = team.league_rank() + i; });
          team.team_barrier();
          double mine = 0;
          Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(team, 16), [&](int i, double& m) { m += own(i); }, mine);
          s += mine;
        },
        sum);
    CHECK(sum == 16 * 2016 + 64 * 120);
  }
  SUBCASE("atomics lose nothing") {
    Kokkos::View<long*, Space> const v("v", 3);
    constexpr long n = 4'000'000; // long enough for threads to meet
    Kokkos::parallel_for(
        "atomics", range(0, n), KOKKOS_LAMBDA(long i) {
          Kokkos::atomic_add(&v(0), 1L);
          Kokkos::atomic_fetch_add(&v(1), i);
          Kokkos::atomic_fetch_max(&v(2), i);
        });
    auto const host = laws::on_host(v);
    CHECK(host(0) == n);
    CHECK(host(1) == n * (n - 1) / 2);
    CHECK(host(2) == n - 1);
  }
  SUBCASE("kernels work on sub-views and on unmanaged ones") {
    Kokkos::View<int**, Kokkos::LayoutRight, Space> const v("v", 10, 10);
    auto const row = Kokkos::subview(v, 3, Kokkos::ALL);
    Kokkos::View<int*, Space, Kokkos::MemoryUnmanaged> const raw(v.data() + 50, 10);
    Kokkos::parallel_for("rows", range(0, 10), KOKKOS_LAMBDA(int i) {
      row(i) = i;
      raw(i) = -i;
    });
    auto const host = laws::on_host(v);
    CHECK(host(3, 9) == 9);
    CHECK(host(5, 9) == -9);
    CHECK(host(4, 9) == 0);
  }
  SUBCASE("a token is held by one at a time") {
    Kokkos::Experimental::UniqueToken<Space> const token;
    Kokkos::Experimental::UniqueToken<Space, Kokkos::Experimental::UniqueTokenScope::Global> const global;
    CHECK(token.size() >= 1);
    Kokkos::View<long*, Space> const sums("sums", token.size());
    Kokkos::View<long*, Space> const more("more", global.size());
    Kokkos::parallel_for("tokens", range(0, 10000), KOKKOS_LAMBDA(int i) {
      auto const mine = token.acquire();
      sums(mine) += i; // no atomic
      token.release(mine);
      auto const own = global.acquire();
      more(own) += i;
      global.release(own);
    });
    long sum = 0;
    auto const host = laws::on_host(sums);
    for (std::size_t i = 0; i < host.extent(0); ++i) sum += host(i);
    auto const other = laws::on_host(more);
    for (std::size_t i = 0; i < other.extent(0); ++i) sum += other(i);
    CHECK(sum == 9999L * 10000);
  }
}
