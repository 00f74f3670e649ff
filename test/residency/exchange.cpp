// SPDX-License-Identifier: MIT
#include <keel/residency/loops.hpp>
#include <keel/residency/fields.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/policy/error.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace exchange_cases {

namespace kr = keel::residency;

template <class Layout, class Ranks, class Exchange = kr::on_host>
struct app : test::application<keel::list<test::host, keel::simulated>, kr::automatic, Layout, Ranks> {
  using exchange = Exchange;
};

// Without the kernels that poison.
struct on_twin
    : test::application<keel::list<test::host, test::twin>, kr::automatic, Kokkos::LayoutLeft, keel::machine::mpi> {
  using exchange = kr::on_device;
};

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
        for (std::size_t k = 0; k < second.extent(2); ++k)
          second(i, j, k) = is_owned ? float(100 * (x + 50 * y) + std::int64_t(k)) : -1;
      }
  }
};

// As if a device had computed: the rims are on the device alone.
struct touch : kr::routine<"touch", kr::on_device, kr::updates<a, b>> {
  template <class V>
  static void run(V v) {
    auto first = v(a{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { first(i, j) += 0.5; });
  }
};

int wrong_cells = 0;
int checked_ghosts = 0;

// How often a kernel moved boxes since the last call.
int region_kernels() {
  static int count;
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    if (std::string_view(name) == "keel: regions") ++count;
  });
  return std::exchange(count, 0);
}

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

/// Ranks without cells, if there are others: the second one, and those after the third.
kr::cuts with_idle_ranks(int ranks, int nx, int ny) {
  if (ranks == 1) return {{0, nx}, {0, ny}};
  if (ranks == 2) return {{0, nx, nx}, {0, ny}};
  return {{0, nx - 3, nx - 3, nx}, {0, ny}};
}

template <class Layout, class Exchange = kr::on_host>
void exchange_and_verify(std::string_view device, kr::ghost_width width, bool x_wraps, bool y_wraps,
                         bool is_cut = false) {
  test::run<keel::machine::mpi> run{device};
  kr::fields<app<Layout, keel::machine::mpi, Exchange>, a, b> f{
      run,
      kr::grid{{9, 13},
               width,
               kr::periodic{x_wraps, y_wraps},
               is_cut ? kr::grid_option(with_idle_ranks(run.environment().size(), 9, 13)) : kr::grid_option()},
      kr::extra<b>{3}};
  f.run(fill{});
  f.run(touch{});
  f.run(kr::exchange<a, b>{});
  wrong_cells = checked_ghosts = 0;
  f.run(verify{}, x_wraps, y_wraps);
  CHECK(wrong_cells == 0);
  bool const has_cells = f.local(kr::component{}).has_cells;
  CHECK(has_cells == (!is_cut || run.environment().rank() == 0 || run.environment().rank() == 2));
  CHECK((checked_ghosts > 0) == (has_cells && (run.environment().size() > (is_cut ? 2 : 1) || x_wraps || y_wraps)));
}

// The wave equation, second order in space and time, and a sum on the side that the exchange overlaps with.
struct w : kr::variable<"w", double**, kr::levels<3>> {};
struct sum : kr::variable<"sum", double**> {};

struct wave_start : kr::routine<"wave_start", kr::on_host, kr::writes<w, kr::past<w, 1>, sum>> {
  template <class V>
  static void run(V v) {
    auto now = v(w{}), before = v(kr::past<w, 1>{});
    auto total = v(sum{});
    auto const own = v.owned();
    auto const begin = v.global_begin(), n = v.global_extents();
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) {
        auto const at = (begin[0] + i - own.begin[0]) * n[1] + begin[1] + j - own.begin[1];
        now(i, j) = before(i, j) = double((at * 7919) % 101) / 101;
        total(i, j) = 0;
      }
  }
};
struct propagate : kr::routine<"propagate", kr::on_device,
                               kr::reads<kr::inside<kr::past<w, 1>>, kr::owned<kr::past<w, 2>>>, kr::writes<w>> {
  template <class V>
  static void run(V v) {
    auto old = v(kr::past<w, 1>{}), older = v(kr::past<w, 2>{});
    auto now = v(w{});
    auto const own = v.owned();
    bool const low = v.is_wall(1, kr::side::low), high = v.is_wall(1, kr::side::high);
    int const first = int(own.begin[1]), last = int(own.end[1]) - 1;
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const south = low && j == first ? old(i, j) : old(i, j - 1);
          double const north = high && j == last ? old(i, j) : old(i, j + 1);
          double const bend = old(i - 1, j) + old(i + 1, j) + south + north - 4 * old(i, j);
          now(i, j) = 2 * old(i, j) - older(i, j) + 0.2 * bend + 0.01 * old(i - 1, j - (low && j == first ? 0 : 1));
        });
  }
};
struct add_up : kr::routine<"add_up", kr::on_device, kr::reads<kr::owned<w>>, kr::updates<sum>> {
  template <class V>
  static void run(V v) {
    auto now = v(w{});
    auto total = v(sum{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { total(i, j) += 0.3 * now(i, j) * now(i, j); });
  }
};
struct waves : kr::schedule<kr::cycle<w>, propagate, kr::exchange<w>, add_up> {};

struct part {
  double value, sum;
  std::int64_t at;
};
template <class Ranks, class Exchange>
std::vector<double> twenty_steps(std::string_view device, bool is_cut = false) {
  test::run<Ranks> run{device};
  kr::fields<app<Kokkos::LayoutRight, Ranks, Exchange>, w, sum> f{
      run, kr::grid{{17, 10},
                    kr::ghost_width{1},
                    kr::periodic{true, false},
                    is_cut ? kr::grid_option(with_idle_ranks(run.environment().size(), 17, 10)) : kr::grid_option()}};
  f.run(wave_start{});
  f.run(kr::exchange<w>{});
  for (int n = 0; n < 20; ++n) f.step(waves{});
  auto const parts = f.run(test::call<kr::reads<kr::owned<w>, kr::owned<sum>>>{}, [](auto v) {
    auto const now = v(w{});
    auto const total = v(sum{});
    auto const own = v.owned();
    auto const begin = v.global_begin(), n = v.global_extents();
    std::vector<part> mine;
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j)
        mine.push_back({now(i, j), total(i, j), (begin[0] + i - own.begin[0]) * n[1] + begin[1] + j - own.begin[1]});
    return mine;
  });
  auto const all = keel::machine::gather(run.environment(), std::span<part const>(parts), 0);
  std::vector<double> field(2 * 17 * 10, -1);
  for (part const& p : all) field[2 * std::size_t(p.at)] = p.value, field[2 * std::size_t(p.at) + 1] = p.sum;
  return field;
}

// A host routine between an exchange and its first reader; a ghost that has a neighbour is not filled yet.
int ghosts_seen = 0;
struct meanwhile : kr::routine<"meanwhile", kr::on_host, kr::reads<kr::owned<a>>> {
  template <class V>
  static void run(V v) {
    auto const x = wrapped(v.global_begin()[0] - 1, v.global_extents()[0]), y = v.global_begin()[1];
    ghosts_seen += v(a{})(0, v.owned().begin[1]) == double(1000 * x + y) + 0.5 ? 100 : 1;
  }
};
struct overlapped : kr::schedule<fill, touch, kr::exchange<a, b>, meanwhile, meanwhile, verify> {};
struct stumbling : kr::schedule<fill, touch, kr::exchange<a, b>, test::call<kr::reads<kr::owned<a>>>> {};

TEST_CASE("residency: an exchange fills all ghosts that have a neighbour, corners included") {
  for (bool x : {true, false})
    for (bool y : {true, false}) {
      exchange_and_verify<Kokkos::LayoutRight>(test::host::name, kr::ghost_width{2, 1}, x, y);
      exchange_and_verify<Kokkos::LayoutRight>("simulated", kr::ghost_width{1, 2}, x, y);
    }
  for (bool x : {true, false}) {
    exchange_and_verify<Kokkos::LayoutRight>(test::host::name, kr::ghost_width{2, 1}, x, !x, true);
    exchange_and_verify<Kokkos::LayoutLeft, kr::on_device>("simulated", kr::ghost_width{2, 1}, x, true, true);
  }
  exchange_and_verify<Kokkos::LayoutRight, kr::on_device>("simulated", kr::ghost_width{2, 1}, true, false);
  exchange_and_verify<Kokkos::LayoutLeft, kr::on_device>("simulated", kr::ghost_width{1, 2}, false, true);
  exchange_and_verify<Kokkos::LayoutRight, kr::on_device>(test::host::name, kr::ghost_width{1}, true, true);
  exchange_and_verify<Kokkos::LayoutLeft>(test::host::name, kr::ghost_width{1, 1}, true, false);
  exchange_and_verify<Kokkos::LayoutLeft>("simulated", kr::ghost_width{2, 2}, true, true);
}

TEST_CASE("residency: twenty steps of a wave have the same bits on any ranks, devices and exchanges") {
  test::run<keel::machine::mpi> run{test::host::name};
  using keel::machine::alone;
  using keel::machine::mpi;
  int const rank = run.environment().rank();
  std::vector<double> const reference = twenty_steps<alone, kr::on_host>(test::host::name);
  std::vector<std::vector<double>> all{
      twenty_steps<mpi, kr::on_host>(test::host::name),
      twenty_steps<mpi, kr::on_host>("simulated"),
      twenty_steps<mpi, kr::on_host>(test::host::name, true),
      twenty_steps<mpi, kr::on_device>("simulated", true),
      twenty_steps<mpi, kr::on_host>(rank % 2 == 0 ? "simulated" : test::host::name),
      twenty_steps<mpi, kr::on_device>("simulated"),
      twenty_steps<mpi, kr::on_device>(rank % 2 == 0 ? "simulated" : test::host::name)};
  if (rank == 0)
    for (auto const& field : all) CHECK(field == reference);
  CHECK(twenty_steps<alone, kr::on_device>("simulated") == reference);
}

TEST_CASE("residency: messages of an exchange on the device go by way of the host where MPI cannot reach them") {
  keel::space::set_guard(keel::space::guard::pages); // MPI would fault
  exchange_and_verify<Kokkos::LayoutRight, kr::on_device>("simulated", kr::ghost_width{2, 1}, true, false);
  exchange_and_verify<Kokkos::LayoutLeft, kr::on_device>("simulated", kr::ghost_width{1}, true, true);
  keel::space::set_guard(keel::space::guard::views);
}

TEST_CASE("residency: an exchange on the device moves nothing to the host") {
  test::run<keel::machine::mpi> run{"simulated"};
  kr::fields<app<Kokkos::LayoutRight, keel::machine::mpi, kr::on_device>, w, sum> f{
      run, kr::grid{{17, 10}, kr::ghost_width{1}, kr::periodic{true, true}}};
  f.run(wave_start{});
  f.run(kr::exchange<w>{});
  for (int n = 0; n < 3; ++n) f.step(waves{});
  CHECK(f.traffic().bytes(kr::way::to_host) == 0);
  CHECK(f.is_valid<w, keel::simulated>());
  CHECK_FALSE(f.is_valid<w>(kr::region::ghosts));
  CHECK((f.traffic().bytes(kr::way::to_neighbours) > 0 || run.environment().size() == 1));
  using plan = kr::plan<app<Kokkos::LayoutRight, keel::machine::mpi, kr::on_device>, waves, keel::simulated>;
  static_assert(plan::copies(kr::device, kr::host) == 0);
  static_assert(plan::copies(kr::host, kr::device) == 0);
}

TEST_CASE("residency: an exchange packs for others by one kernel, and by one fills all ghosts") {
  test::run<keel::machine::mpi> run{test::twin::name};
  kr::fields<on_twin, a, b> f{run, kr::grid{{9, 13}, kr::ghost_width{1}, kr::periodic{true, true}}, kr::extra<b>{3}};
  f.run(fill{});
  f.run(kr::exchange<a, b>{}); // its ways are measured
  f.run(fill{});
  f.run(touch{});
  (void)region_kernels();
  f.run(kr::exchange<a, b>{});
  CHECK(region_kernels() == (run.environment().size() == 1 ? 1 : 2));
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
}

struct cube : kr::variable<"cube", double***, kr::levels<2>> {};
struct fill_cube : kr::routine<"fill_cube", kr::on_device, kr::writes<cube>> {
  template <class V>
  static void run(V v, int step) {
    auto const c = v(cube{});
    auto const own = v.owned();
    auto const begin = v.global_begin();
    long const x = begin[0] - own.begin[0], y = begin[1] - own.begin[1], z = begin[2] - own.begin[2];
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j, int k) {
          c(i, j, k) = 10000 * step + 100 * double(i + x) + 10 * double(j + y) + double(k + z);
        });
  }
};
struct verify_cube : kr::routine<"verify_cube", kr::on_host, kr::reads<cube>> {
  template <class V>
  static void run(V v, int step) {
    auto const c = v(cube{});
    auto const own = v.owned(), all = v.everywhere();
    auto const begin = v.global_begin(), n = v.global_extents();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j)
        for (auto k = all.begin[2]; k < all.end[2]; ++k) {
          auto const x = wrapped(begin[0] + i - own.begin[0], n[0]), y = wrapped(begin[1] + j - own.begin[1], n[1]),
                     z = wrapped(begin[2] + k - own.begin[2], n[2]);
          if (c(i, j, k) != double(10000 * step + 100 * x + 10 * y + z)) ++wrong_cells;
        }
  }
};
struct fill_and_exchange : kr::schedule<kr::cycle<cube>, fill_cube, kr::exchange<cube>, verify_cube> {};

TEST_CASE("residency: one kernel packs more boxes than travel with a kernel, whichever level is sent") {
  test::run<keel::machine::mpi> run{test::twin::name};
  kr::fields<on_twin, cube> f{run, kr::grid{{9, 8, 10}, kr::ghost_width{1}, kr::periodic{true}}};
  wrong_cells = 0;
  for (int step = 1; step <= 5; ++step) {
    (void)region_kernels();
    f.step(fill_and_exchange{}, step);
    int const copies_to_host = 1; // the rest of the cube, for the check
    int const kernels = region_kernels();
    if (step > 1) CHECK(kernels <= 2 + copies_to_host); // in the first the ways are measured
  }
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  CHECK(wrong_cells == 0);
}

TEST_CASE("residency: an exchange overlaps routines that do not meet it, and is done for the one that does") {
  for (std::string_view device : {test::host::name, std::string_view("simulated")}) {
    test::run<keel::machine::mpi> run{device};
    kr::fields<app<Kokkos::LayoutRight, keel::machine::mpi>, a, b> f{
        run, kr::grid{{9, 13}, kr::ghost_width{1}, kr::periodic{true, true}}, kr::extra<b>{3}};
    ghosts_seen = wrong_cells = 0;
    f.step(overlapped{}, true, true);
    CHECK(ghosts_seen == 2);
    CHECK(wrong_cells == 0);
    CHECK_THROWS_AS(f.step(stumbling{}, [] { throw std::runtime_error("stumbled"); }), std::runtime_error);
    wrong_cells = 0;
    f.run(verify{}, true, true); // what was under way has landed
    CHECK(wrong_cells == 0);
  }
}

// Two components of different sizes: a coarse grid, and a finer one that covers it.
struct h : kr::variable<"h", double**, kr::levels<2>> {};
struct start_h : kr::routine<"start_h", kr::on_device, kr::writes<h>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto to = v(h{}, kr::component{c});
      kr::share const part = v.local(kr::component{c});
      auto const own = part.owned();
      auto const begin = part.global_begin;
      kr::for_each_cell(
          v, own, KOKKOS_LAMBDA(int i, int j) {
            to(i, j) = double(10000 * (c + 1) + 100 * (begin[0] + i - own.begin[0]) + begin[1] + j - own.begin[1]);
          });
    }
  }
};
struct verify_h : kr::routine<"verify_h", kr::on_host, kr::reads<h>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto from = v(h{}, kr::component{c});
      kr::share const part = v.local(kr::component{c});
      auto const own = part.owned(), all = part.everywhere();
      auto const n = part.global_extents;
      for (auto i = all.begin[0]; i < all.end[0]; ++i)
        for (auto j = all.begin[1]; j < all.end[1]; ++j) {
          auto const x = wrapped(part.global_begin[0] + i - own.begin[0], n[0]),
                     y = wrapped(part.global_begin[1] + j - own.begin[1], n[1]);
          if (from(i, j) != double(10000 * (c + 1) + 100 * x + y)) ++wrong_cells;
          ++checked_ghosts;
        }
    }
  }
};

TEST_CASE("residency: components may differ in size, and each is exchanged, copied and counted as it is") {
  for (std::string_view device : {test::host::name, std::string_view("simulated")}) {
    test::run<keel::machine::mpi> run{device};
    kr::ghost_width const coarse{1}, fine{2, 1};
    kr::periodic const wraps{true, true};
    kr::fields<app<Kokkos::LayoutRight, keel::machine::mpi>, h> f{run, kr::grid{{8, 9}, coarse, wraps},
                                                                  kr::further_grids{{kr::grid{{17, 18}, fine, wraps}}}};
    CHECK(f.components() == 2);
    CHECK(f.local(kr::component{1}).global_extents == kr::indices{{17, 18}});
    f.run(start_h{});
    f.run(kr::exchange<h>{});
    wrong_cells = checked_ghosts = 0;
    f.run(verify_h{});
    CHECK(wrong_cells == 0);
    std::uint64_t owned = 0;
    int cells = 0;
    for (int c = 0; c < 2; ++c) {
      kr::share const part = f.local(kr::component{c});
      owned += 8 * std::uint64_t(part.owned().size(2));
      cells += int(part.everywhere().size(2));
    }
    CHECK(checked_ghosts == cells);
    CHECK(f.traffic().bytes(kr::way::to_host) == (device == "simulated" ? owned : 0));
    CHECK(f.bytes<h>(kr::component{1})[0] + f.bytes<h>(kr::component{1})[1] ==
          8 * std::uint64_t(f.local(kr::component{1}).owned().size(2)));
    f.run(test::call<kr::writes<h>>{}, kr::component{1}, [](auto v) { Kokkos::deep_copy(v(h{}), 0.0); });
    CHECK_FALSE(f.is_valid<h>(kr::region::ghosts, kr::component{1}));
    CHECK(f.is_valid<h>(kr::region::everywhere, kr::component{0}));
    CHECK_THROWS_AS((kr::fields<app<Kokkos::LayoutRight, keel::machine::mpi>, h>{run, kr::grid{{8, 9}},
                                                                                 kr::further_grids{{kr::grid{{8}}}}}),
                    keel::error);
  }
}

} // namespace exchange_cases
