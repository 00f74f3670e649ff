// SPDX-License-Identifier: MIT
#include <keel/residency/fields.hpp>

#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>

#include <doctest/doctest.h>

#include <span>
#include <vector>

namespace kr = keel::residency;

namespace {

template <class Layout, class Ranks>
using app = test::application<keel::list<test::host, keel::simulated>, kr::automatic, Layout, Ranks>;

struct a : kr::variable<"a", double**, kr::levels<2>> {};
struct b : kr::variable<"b", float***> {};

std::int64_t wrapped(std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; }

// Owned cells of both variables from their global indices; everything else is -1.
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<a>, kr::everywhere<b>>> {
  template <class V>
  static void run(V v) {
    auto first = v(a{});
    auto second = v(b{});
    auto const own = v.owned(), all = v.everywhere();
    auto const begin = v.global_begin();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        bool const is_owned = i >= own.begin[0] && i < own.end[0] && j >= own.begin[1] && j < own.end[1];
        auto const x = begin[0] + i - own.begin[0], y = begin[1] + j - own.begin[1];
        first(i, j) = is_owned ? double(1000 * x + y) : -1;
        for (std::size_t k = 0; k < second.extent(2); ++k) second(i, j, k) = is_owned ? float(100 * (x + 50 * y) + std::int64_t(k)) : -1;
      }
  }
};

// As if a device had computed: the rims are on the device alone.
struct touch : kr::routine<"touch", kr::on_device, kr::updates<a, b>> {
  template <class V>
  static void run(V v) {
    auto first = v(a{});
    auto const own = v.owned();
    using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
    Kokkos::parallel_for("touch", policy(v.execution_space(), own.begin, own.end),
                         KOKKOS_LAMBDA(int i, int j) { first(i, j) += 0.5; });
  }
};

int wrong_cells = 0;
int checked_ghosts = 0;
struct verify : kr::routine<"verify", kr::on_host, kr::reads<a, b>> {
  template <class V>
  static void run(V v, bool const& x_wraps, bool const& y_wraps) {
    auto first = v(a{});
    auto second = v(b{});
    auto const own = v.owned(), all = v.everywhere();
    auto const begin = v.global_begin(), n = v.global_extents();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        auto x = begin[0] + i - own.begin[0], y = begin[1] + j - own.begin[1];
        bool const is_beyond = (!x_wraps && (x < 0 || x >= n[0])) || (!y_wraps && (y < 0 || y >= n[1]));
        if (is_beyond) continue;
        checked_ghosts += i < own.begin[0] || i >= own.end[0] || j < own.begin[1] || j >= own.end[1];
        x = wrapped(x, n[0]), y = wrapped(y, n[1]);
        if (first(i, j) != double(1000 * x + y) + 0.5) ++wrong_cells;
        for (std::size_t k = 0; k < second.extent(2); ++k)
          if (second(i, j, k) != float(100 * (x + 50 * y) + std::int64_t(k))) ++wrong_cells;
      }
  }
};

template <class Layout>
void exchange_and_verify(std::string_view device, kr::ghost_width width, bool x_wraps, bool y_wraps) {
  test::run<keel::machine::mpi> run{device};
  kr::fields<app<Layout, keel::machine::mpi>, a, b> f{run, kr::grid{{9, 13}, width, kr::periodic{x_wraps, y_wraps}}, kr::extra<b>{3}};
  f.run(fill{});
  f.run(touch{});
  f.run(kr::exchange<a, b>{});
  wrong_cells = checked_ghosts = 0;
  f.run(verify{}, x_wraps, y_wraps);
  CHECK(wrong_cells == 0);
  CHECK((checked_ghosts > 0 || (run.environment().size() == 1 && !x_wraps && !y_wraps)));
}

struct smooth : kr::routine<"smooth", kr::on_device, kr::reads<kr::past<a, 1>>, kr::writes<a>> {
  template <class V>
  static void run(V v) {
    auto old = v(kr::past<a, 1>{});
    auto now = v(a{});
    auto const own = v.owned();
    bool const low = v.is_wall(1, kr::side::low), high = v.is_wall(1, kr::side::high);
    int const first = int(own.begin[1]), last = int(own.end[1]) - 1;
    using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
    Kokkos::parallel_for("smooth", policy(v.execution_space(), own.begin, own.end), KOKKOS_LAMBDA(int i, int j) {
      double const south = low && j == first ? old(i, j) : old(i, j - 1);
      double const north = high && j == last ? old(i, j) : old(i, j + 1);
      now(i, j) = 0.3 * old(i, j) + 0.1 * old(i - 1, j - (low && j == first ? 0 : 1)) + 0.2 * old(i + 1, j) + 0.3 * south + 0.1 * north;
    });
  }
};
struct smoothing : kr::schedule<kr::cycle<a>, smooth, kr::exchange<a>> {};

struct part {
  double value;
  std::int64_t at;
};
std::vector<part> parts;
struct collect : kr::routine<"collect", kr::on_host, kr::reads<kr::owned<a>>> {
  template <class V>
  static void run(V v) {
    auto now = v(a{});
    auto const own = v.owned();
    auto const begin = v.global_begin(), n = v.global_extents();
    parts.clear();
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j)
        parts.push_back({now(i, j), (begin[0] + i - own.begin[0]) * n[1] + begin[1] + j - own.begin[1]});
  }
};

template <class Ranks>
std::vector<double> whole_field(std::string_view device) {
  test::run<Ranks> run{device};
  kr::fields<app<Kokkos::LayoutRight, Ranks>, a, b> f{run, kr::grid{{17, 10}, kr::ghost_width{1}, kr::periodic{true, false}}, kr::extra<b>{1}};
  f.run(fill{});
  f.run(kr::exchange<a>{});
  for (int n = 0; n < 20; ++n) f.step(smoothing{});
  f.run(collect{});
  auto const all = keel::machine::gather(run.environment(), std::span<part const>(parts), 0);
  std::vector<double> field(17 * 10, -1);
  for (part const& p : all) field[std::size_t(p.at)] = p.value;
  return field;
}

} // namespace

TEST_CASE("residency: an exchange fills all ghosts that have a neighbour, corners included") {
  for (bool x : {true, false})
    for (bool y : {true, false}) {
      exchange_and_verify<Kokkos::LayoutRight>(test::host::name, kr::ghost_width{2, 1}, x, y);
      exchange_and_verify<Kokkos::LayoutRight>("simulated", kr::ghost_width{1, 2}, x, y);
    }
  exchange_and_verify<Kokkos::LayoutLeft>(test::host::name, kr::ghost_width{1, 1}, true, false);
  exchange_and_verify<Kokkos::LayoutLeft>("simulated", kr::ghost_width{2, 2}, true, true);
}

TEST_CASE("residency: a field has the same bits on any number of ranks, on host and device") {
  test::run<keel::machine::mpi> run{test::host::name};
  int const rank = run.environment().rank();
  std::vector<double> const alone = whole_field<keel::machine::alone>(test::host::name);
  std::vector<double> const together = whole_field<keel::machine::mpi>(test::host::name);
  std::vector<double> const mixed = whole_field<keel::machine::mpi>(rank % 2 == 0 ? "simulated" : test::host::name);
  if (rank == 0) {
    CHECK(together == alone);
    CHECK(mixed == alone);
  }
}
