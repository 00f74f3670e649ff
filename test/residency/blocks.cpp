// SPDX-License-Identifier: MIT
/// @file
/// Several blocks a rank: the values, messages and bytes beside those of one.
#include <keel/residency/fields.hpp>

#include "counted.hpp"
#include "routines.hpp"
#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/exact.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/loops.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blocked {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::refuses;

template <class Ranks, class Exchange, class Tracking = kr::automatic, class Layout = Kokkos::LayoutRight>
struct app : test::application<keel::list<test::host, keel::simulated, test::twin>, Tracking, Layout, Ranks> {
  using exchange = Exchange;
  using transports = keel::list<test::counted>;
};

struct h : kr::variable<"h", double**, kr::levels<2>> {};
struct q : kr::variable<"q", double**, kr::at<kr::vertex>> {};
struct u : kr::variable<"u", float****, kr::levels<2>> {};
struct dx : kr::variable<"dx", double*, kr::along<1>> {};

KEEL_FUNCTION double first_of(std::int64_t at) { return double(at * 7919 % 101) / 101 + 1e-3 * double(at % 13); }

struct start : kr::routine<"start", kr::on_device, kr::writes<h>> {
  template <class V>
  static void run(V v) {
    auto const x = v(h{});
    std::int64_t const i0 = v.global_begin()[0] - v.owned().begin[0], j0 = v.global_begin()[1] - v.owned().begin[1],
                       n = v.global_extents()[1];
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { x(i, j) = first_of((i + i0) * n + j + j0); });
  }
};
struct start_dx : kr::routine<"start_dx", kr::on_host, kr::writes<dx>> {
  template <class V>
  static void run(V v) {
    kr::share const s = v.local(dx{});
    for (auto j = s.owned().begin[0]; j < s.owned().end[0]; ++j)
      v(dx{})(j) = 1 + 0.1 * double((s.global_begin[0] + j - s.owned().begin[0]) % 5);
  }
};
/// Beyond a wall lies what lies before it; the cells in corners are taken from those that this filled before.
struct walls : kr::routine<"walls", kr::on_device, kr::reads<kr::inside<kr::past<h, 1>>>,
                           kr::writes<kr::walls<kr::past<h, 1>>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(kr::past<h, 1>{});
    auto const own = v.owned(), all = v.everywhere();
    for (kr::side const s : {kr::side::low, kr::side::high}) {
      if (!v.is_wall(1, s)) continue;
      int const last = int(s == kr::side::low ? own.begin[1] : own.end[1] - 1), way = s == kr::side::low ? -1 : 1;
      kr::bounds row = all;
      row.begin[1] = last + way, row.end[1] = last + way + 1;
      kr::for_each_cell(v, row, KOKKOS_LAMBDA(int i, int j) { x(i, j) = 0.5 * x(i, j - way); });
    }
  }
};
struct average : kr::routine<"average", kr::on_device, kr::reads<kr::past<h, 1>, kr::inside<dx>>, kr::writes<q>> {
  template <class V>
  static void run(V v) {
    auto const x = v(kr::past<h, 1>{});
    auto const d = v(dx{});
    auto const a = v(q{});
    int const first = int(v.owned().begin[1]);
    kr::for_each_cell(
        v, v.owned(q{}), KOKKOS_LAMBDA(int i, int j) {
          a(i, j) = (x(i - 1, j - 1) + x(i - 1, j)) + (x(i, j - 1) + 2 * x(i, j)) + d(j > first ? j - 1 : first);
        });
  }
};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::inside<q>, kr::past<h, 1>>, kr::writes<h>> {
  template <class V>
  static void run(V v) {
    auto const x = v(h{});
    auto const old = v(kr::past<h, 1>{});
    auto const a = v(q{});
    CHECK(v.components() == 1);
    CHECK(v(h{}, kr::component{0}).data() == x.data());
    CHECK(v.local(kr::component{0}).global_begin == v.global_begin());
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          x(i, j) = 0.3 * old(i, j) + 0.02 * ((a(i, j) + 3 * a(i + 1, j)) + (2 * a(i, j + 1) - a(i + 1, j + 1))) +
                    0.01 * old(i + 1, j - 1);
        });
  }
};
struct least : kr::routine<"least", kr::on_host, kr::reads<kr::owned<h>>> {
  template <class V>
  static double run(V v) {
    double found = 1e300;
    auto const x = v(h{});
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i)
      for (auto j = v.owned().begin[1]; j < v.owned().end[1]; ++j) found = std::min(found, x(i, j));
    return found;
  }
};
struct weigh : kr::routine<"weigh", kr::on_host, kr::reads<kr::owned<h>>> {
  using value_type = std::array<km::exact_sum, 2>;
  template <class V>
  static value_type run(V v) {
    value_type all;
    auto const x = v(h{});
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i)
      for (auto j = v.owned().begin[1]; j < v.owned().end[1]; ++j) all[0] += x(i, j), all[1] += 1;
    return all;
  }
};
struct smallest : kr::reduce<"smallest", km::minimum, least> {};
struct total : kr::reduce<"total", km::ordered_sum, weigh> {};
struct judge : kr::routine<"judge", kr::on_host, kr::reads<smallest, total>> {
  template <class V>
  static void run(V v, std::vector<double>& values) {
    values.assign({v(smallest{}), v(total{})[0], v(total{})[1]});
  }
};
struct step
    : kr::schedule<kr::cycle<h>, walls, average, kr::exchange<q>, advance, kr::exchange<h>, smallest, total, judge> {};

struct start_u : kr::routine<"start_u", kr::on_device, kr::writes<u>> {
  template <class V>
  static void run(V v) {
    auto const x = v(u{});
    auto const b = v.global_begin(), o = v.owned().begin, n = v.global_extents();
    std::int64_t const i0 = b[0] - o[0], j0 = b[1] - o[1], k0 = b[2] - o[2], nj = n[1], nk = n[2];
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j, int k) {
          std::int64_t const at = ((i + i0) * nj + j + j0) * nk + k + k0;
          x(i, j, k, 0) = float(first_of(at)), x(i, j, k, 1) = float(first_of(3 * at));
        });
  }
};
struct spread : kr::routine<"spread", kr::on_device, kr::reads<kr::past<u, 1>>, kr::writes<u>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<u, 1>{});
    auto const x = v(u{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j, int k) {
          for (int l = 0; l < 2; ++l)
            x(i, j, k, l) = 0.4F * old(i, j, k, l) + 0.1F * (old(i - 1, j - 1, k - 1, l) + old(i + 1, j, k, 1 - l)) +
                            0.2F * (old(i, j + 2, k, l) - old(i, j, k + 1, l));
        });
  }
};
struct step_u : kr::schedule<kr::cycle<u>, spread, kr::exchange<u>> {};

struct value {
  std::int64_t at;
  double is;
};
template <class X>
struct collect : kr::routine<"collect", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static void run(V v, std::vector<value>& values) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    kr::bounds const own = v.owned();
    for (std::int64_t n = 0; n < own.size(s.rank); ++n) {
      kr::indices at;
      std::int64_t left = n, place = 0;
      for (int d = 0; d < s.rank; ++d) {
        std::int64_t const cells = own.end[d] - own.begin[d];
        at[d] = own.begin[d] + left % cells, left /= cells;
        place = place * s.global_extents[d] + s.global_begin[d] + at[d] - own.begin[d];
      }
      if constexpr (decltype(x)::rank == 2) values.push_back({place, x(at[0], at[1])});
      else values.push_back({place, double(x(at[0], at[1], at[2], 0))});
    }
  }
};
/// All of a variable, on the first rank.
template <class X>
std::vector<double> whole(auto& run, auto& f) {
  std::vector<value> here;
  f.run(collect<X>{}, here);
  std::vector<double> all;
  for (value const& one : km::gather(run.environment(), std::span<value const>(here), 0)) {
    all.resize(std::max(all.size(), std::size_t(one.at) + 1), -1);
    all[std::size_t(one.at)] = one.is;
  }
  return all;
}

/// What some steps on so many blocks make: the values, and those of the reductions after them.
template <class App>
std::vector<double> steps_in_two(std::string_view device, kr::blocks n, kr::ghost_width width = kr::ghost_width{1}) {
  test::run<typename App::ranks> run{device};
  kr::fields<App, h, q, dx> f{run, kr::grid{{17, 22}, width, kr::periodic{true, false}, n}};
  CHECK(f.components() == n.of_rank);
  f.run(start{}), f.run(start_dx{}), f.run(kr::exchange<h, dx>{});
  std::vector<double> values;
  for (int i = 0; i < 5; ++i) f.step(step{}, values);
  std::vector<double> all = whole<h>(run, f);
  all.insert(all.end(), values.begin(), values.end());
  return all;
}
template <class App>
std::vector<double> steps_in_three(std::string_view device, kr::blocks n) {
  test::run<typename App::ranks> run{device};
  kr::fields<App, u> f{run, kr::grid{{9, 17, 7}, kr::ghost_width{1, 2, 1}, kr::periodic{true}, n}, kr::extra<u>{2}};
  f.run(start_u{}), f.run(kr::exchange<u>{});
  for (int i = 0; i < 5; ++i) f.step(step_u{});
  return whole<u>(run, f);
}

TEST_CASE("residency: the values have the same bits in any number of blocks, on any ranks and devices") {
  test::run<km::mpi> run{test::host::name};
  bool const is_first = run.environment().rank() == 0;
  auto const two = steps_in_two<app<km::alone, kr::on_host>>(test::host::name, kr::blocks{1});
  auto const three = steps_in_three<app<km::alone, kr::on_host>>(test::host::name, kr::blocks{1});
  auto const is_same = [&](std::vector<double> const& all, std::vector<double> const& wanted) {
    return !is_first || all == wanted;
  };
  CHECK(two.size() == 17 * 22 + 3);
  CHECK(steps_in_two<app<km::alone, kr::on_device>>("simulated", kr::blocks{4}) == two);
  CHECK(steps_in_three<app<km::alone, kr::on_host>>(test::host::name, kr::blocks{6}) == three);
  for (int const n : {1, 2, 3, 4}) {
    CAPTURE(n);
    kr::blocks const b{n};
    using left = app<km::mpi, kr::on_device, kr::automatic, Kokkos::LayoutLeft>;
    CHECK(is_same(steps_in_two<app<km::mpi, kr::on_host>>(test::host::name, b), two));
    CHECK(is_same(steps_in_two<app<km::mpi, kr::on_device>>("simulated", b), two));
    CHECK(is_same(steps_in_two<app<km::mpi, kr::on_device, kr::checked>>("simulated", b), two));
    CHECK(is_same(steps_in_two<left>("simulated", b, kr::ghost_width{2, 1}), two));
    CHECK(is_same(steps_in_three<app<km::mpi, kr::on_host>>(test::host::name, b), three));
    CHECK(is_same(steps_in_three<left>("simulated", b), three));
  }
}

/// How often a kernel moved boxes since the last call.
int region_kernels() {
  static int count;
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    if (std::string_view(name) == "keel: regions") ++count;
  });
  return std::exchange(count, 0);
}

TEST_CASE("residency: blocks send the least bytes, in one message to each partner, by two kernels") {
  test::run<km::mpi> run{test::twin::name};
  int const rank = run.environment().rank(), ranks = run.environment().size();
  for (int const blocks : {1, 2, 3, 4, 6}) {
    CAPTURE(blocks);
    kr::fields<app<km::mpi, kr::on_device>, h, q> f{
        run, kr::grid{{24, 37}, kr::ghost_width{2}, kr::periodic{true, false}, kr::blocks{blocks}}};
    std::vector<int> owners(24 * 37, 0), from(std::size_t(ranks), 0);
    f.run(test::call<>{}, [&](auto v) { // a number for each rank's blocks: whose the cells are
      kr::bounds const own = v.owned();
      auto const begin = v.global_begin(), n = v.global_extents();
      for (auto i = own.begin[0]; i < own.end[0]; ++i)
        for (auto j = own.begin[1]; j < own.end[1]; ++j)
          owners[std::size_t((begin[0] + i - own.begin[0]) * n[1] + begin[1] + j - own.begin[1])] += rank + 1;
    });
    for (int& one : owners) one = km::sum(run.environment(), one);
    std::int64_t ghosts = 0;
    f.run(test::call<>{}, [&](auto v) { // those that come from other ranks
      kr::bounds const own = v.owned();
      auto const begin = v.global_begin(), n = v.global_extents();
      for (std::int64_t i = 0; i < v.everywhere().end[0]; ++i)
        for (std::int64_t j = 0; j < v.everywhere().end[1]; ++j) {
          auto const x = (begin[0] + i - own.begin[0] + n[0]) % n[0], y = begin[1] + j - own.begin[1];
          if (y < 0 || y >= n[1]) continue; // beyond a wall
          int const owner = owners[std::size_t(x * n[1] + y)] - 1;
          if (owner == rank) continue;
          ++ghosts;
          from[std::size_t(owner)] = 1;
        }
    });
    f.run(start{});
    f.run(kr::exchange<h>{}); // its ways are measured
    f.run(start{});
    f.reset_traffic();
    test::carried = 0;
    (void)region_kernels();
    f.run(kr::exchange<h>{});
    CHECK(region_kernels() == (ranks > 1 ? 1 : 0) + 1);
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    CHECK(km::sum(run.environment(), std::int64_t(f.traffic().bytes(kr::way::to_neighbours))) ==
          km::sum(run.environment(), 8 * ghosts));
    CHECK(test::carried == std::count(from.begin(), from.end(), 1));
  }
}

/// Counts the runs of routines.
struct recorder : kr::unobserved {
  static constexpr bool is_told = true;
  static inline int runs = 0;
  static int begin_routine() { return ++runs; }
  void end_routine(int, std::string_view, kr::memory) {}
};
struct recorded : kr::automatic {
  static constexpr std::string_view name = "recorded";
  using observer = recorder;
};
struct look : kr::routine<"look", kr::on_host, kr::updates<h>> {
  template <class V>
  static void run(V v, std::vector<kr::share>& seen, std::vector<decltype(v(h{}))>& views) {
    seen.push_back(v.local()), views.push_back(v(h{}));
    for (int d = 0; d < 2; ++d)
      for (kr::side const s : {kr::side::low, kr::side::high}) {
        auto const global = s == kr::side::low
                                ? v.global_begin()[d] == 0
                                : v.global_begin()[d] + v.owned().end[d] - v.owned().begin[d] == v.global_extents()[d];
        CHECK(v.is_wall(d, s) == (d == 1 && global));
      }
  }
};
template <int N>
struct want : kr::routine<"want", kr::on_host, kr::reads<kr::owned<h>>> {
  template <class V>
  static void run(V v) {
    (void)v(h{}, kr::component{N});
  }
};
struct wide : kr::variable<"wide", double**, kr::ghosts<6>> {};
struct ring : kr::mesh<"ring"> {};

TEST_CASE("residency: a routine runs once and is called for each block, which is valid by itself") {
  test::run<km::mpi> run{"simulated"};
  kr::fields<app<km::mpi, kr::on_host, recorded>, h> f{
      run, kr::grid{{24, 30}, kr::ghost_width{1}, kr::periodic{true, false}, kr::blocks{4}}};
  f.run(start{});
  recorder::runs = 0;
  std::vector<kr::share> seen;
  std::vector<Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>> views;
  f.run(kr::exchange<h>{}), f.run(look{}, seen, views);
  CHECK(recorder::runs == 1);
  REQUIRE(seen.size() == 4);
  std::int64_t cells = 0;
  for (int b = 0; b < 4; ++b) {
    kr::share const& s = f.local(kr::component{b});
    CHECK(seen[std::size_t(b)].global_begin == s.global_begin);
    cells += s.owned().size(2);
  }
  CHECK(km::sum(run.environment(), cells) == 24 * 30);
  f.run(start{});
  f.require_invalid_data(views[2]);
  f.notify_data_modified(views[2]);
  CHECK(f.is_valid<h>(kr::region::owned, kr::component{2}));
  CHECK_FALSE(f.is_valid<h>(kr::region::owned, kr::component{1}));
  CHECK_FALSE(f.is_valid<h, keel::simulated>(kr::region::owned, kr::component{2}));
  f.run(want<0>{}), f.run(want<0>{}, kr::component{3});
  CHECK(f.is_valid<h>(kr::region::owned, kr::component{1}));
}

TEST_CASE("residency: what does not go with blocks is refused, on every rank") {
  test::run<km::mpi> run{test::host::name};
  int const rank = run.environment().rank();
  kr::grid const g{{24, 30}, kr::ghost_width{1}, kr::blocks{4}};
  using fields = kr::fields<app<km::mpi, kr::on_host>, h>;
  CHECK(refuses([] { kr::grid{{9}, kr::blocks{0}}; }, "blocks{0} are refused (a rank has at least one)"));
  CHECK(
      refuses([&] { fields(run, kr::grid{{9, 8}, kr::ghost_width{2}, kr::blocks{35}}); },
              "cells cannot be cut into 35 blocks (each needs at least one cell, and as many as the ghosts are wide"));
  CHECK(refuses([&] { fields(run, g, kr::components{2}); }, "a grid in blocks is given with components"));
  CHECK(refuses([&] { fields(run, g, kr::further_grids{{g}}); }, "a grid in blocks is given with components"));
  CHECK(refuses([&] { kr::fields<app<km::mpi, kr::on_host>, wide>(run, kr::grid{{24, 24}, kr::blocks{25}}); },
                "block")); // too thin, or too many
  std::int64_t const mine[] = {rank};
  kr::partition<ring> const part{run.environment(), mine, std::span<std::int64_t const>()};
  CHECK(refuses([&] { fields(run, g, part); }, "a grid in blocks is given with the mesh ring"));
  fields f{run, g};
  f.run(start{});
  CHECK(refuses([&] { f.run(kr::exchange<h>{}, kr::component{1}); }, "exchange is run for block 1 only"));
  CHECK(refuses([&] { (void)f.run(least{}); }, "routine least returns a value, and is called for each block"));
  CHECK(f.run(least{}, kr::component{3}) >= 0);
  CHECK(refuses([&] { f.run(want<1>{}); }, "routine want wants component 1 (it is called for each block"));
}

} // namespace blocked
