// SPDX-License-Identifier: MIT
/// @file
/// Arrays of fields whose rows are whole packs.
#include <keel/residency/fields.hpp>
#include <keel/space/blocked_view.hpp>

#include "run.hpp"

#include <keel/policy/error.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace padded_cases {

namespace kr = keel::residency;

constexpr int whole = 8; ///< elements of a pack

template <class Layout, class Tracking = kr::automatic>
struct app : test::application<keel::list<test::host, keel::simulated>, Tracking, Layout> {};

struct flat : kr::variable<"flat", double**, kr::padded<whole>> {};
struct deep : kr::variable<"deep", double***, kr::levels<2>, kr::padded<whole>> {};
struct bare : kr::variable<"bare", double**> {};
struct table : kr::variable<"table", float*, kr::off_grid, kr::padded<3>> {};

KEEL_FUNCTION inline double value_at(std::int64_t i, std::int64_t j) { return double(100 * i + j); }

/// NaN stands after the rows, and nobody meets it.
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<flat>, bare, deep, table>> {
  template <class V>
  static void run(V v) {
    auto const f = v(flat{});
    auto const b = v(bare{});
    auto const d = v(deep{});
    auto const own = v.owned();
    Kokkos::deep_copy(f, std::nan(""));
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) {
        f(i, j) = b(i, j) = value_at(i, j);
        for (std::size_t k = 0; k < d.extent(2); ++k) d(i, j, k) = value_at(i, j) + double(k) / 16;
      }
    Kokkos::deep_copy(v(table{}), 1);
  }
};

template <class Packs>
struct doubled_packs {
  Packs packs;
  int along; ///< the index of the packs
  KOKKOS_FUNCTION void operator()(int n) const {
    for (int k = 0; k < int(packs.extent(unsigned(along))); ++k) {
      auto& pack = along == 0 ? packs(k, n) : packs(n, k);
      pack = pack + pack;
    }
  }
};

/// All of the array in packs, what lies after its rows as well.
struct twice : kr::routine<"twice", kr::on_device, kr::updates<kr::everywhere<flat>>> {
  template <class V>
  static void run(V v) {
    auto const cells = v(flat{});
    auto const packs = keel::block::blocked_view<whole>(cells);
    constexpr int along = std::is_same_v<typename decltype(cells)::array_layout, Kokkos::LayoutLeft> ? 0 : 1;
    Kokkos::parallel_for("twice",
                         Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, int(packs.extent(1 - along))),
                         doubled_packs<std::remove_const_t<decltype(packs)>>{packs, along});
  }
};

/// Doubles cell by cell, and what an exchange reads.
struct twice_bare : kr::routine<"twice_bare", kr::on_device, kr::updates<kr::everywhere<bare>>, kr::updates<deep>> {
  template <class V>
  static void run(V v) {
    auto const cells = v(bare{});
    auto const levels = v(deep{});
    auto const all = v.everywhere(), own = v.owned();
    using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
    Kokkos::parallel_for(
        "twice_bare", policy(v.execution_space(), all.begin, all.end),
        KOKKOS_LAMBDA(int i, int j) { cells(i, j) *= 2; });
    Kokkos::parallel_for(
        "raised", policy(v.execution_space(), own.begin, own.end), KOKKOS_LAMBDA(int i, int j) {
          for (int k = 0; k < int(levels.extent(2)); ++k) levels(i, j, k) += 1;
        });
  }
};

int wrong = 0, seen = 0;
struct compare : kr::routine<"compare", kr::on_host, kr::reads<flat, bare, deep, table>> {
  template <class V>
  static void run(V v) {
    auto const f = v(flat{});
    auto const b = v(bare{});
    auto const d = v(deep{});
    auto const own = v.owned(), all = v.everywhere();
    for (auto i = all.begin[0]; i < all.end[0]; ++i)
      for (auto j = all.begin[1]; j < all.end[1]; ++j) {
        auto const wrapped = [&](std::int64_t at, int dim) {
          auto const n = own.end[dim] - own.begin[dim];
          return own.begin[dim] + (at - own.begin[dim] + n) % n;
        };
        double const base = value_at(wrapped(i, 0), wrapped(j, 1));
        wrong += f(i, j) != 2 * base || b(i, j) != f(i, j);
        for (std::size_t k = 0; k < d.extent(2); ++k) wrong += d(i, j, k) != base + double(k) / 16 + 1;
        ++seen;
      }
    for (std::size_t k = 0; k < v(table{}).extent(0); ++k) wrong += v(table{})(k) != 1;
  }
};

using step = kr::schedule<fill, kr::exchange<flat, bare>, twice, twice_bare, kr::exchange<deep>, compare>;

template <class App>
void check(std::string_view device) {
  test::run<> run{device};
  kr::fields<App, flat, deep, bare, table> f{run, kr::grid{{9, 13}, kr::ghost_width{1}, kr::periodic{true}},
                                             kr::extra<deep>{5}, kr::extra<table>{7}};
  CHECK(f.template bytes<flat>() == f.template bytes<bare>());
  wrong = seen = 0;
  for (int n = 0; n < 3; ++n) f.step(step{});
  CHECK(wrong == 0);
  CHECK(seen == 3 * 11 * 15);
  auto const& t = f.traffic();
  for (auto way : {kr::way::to_host, kr::way::to_device}) // flat is the first variable, bare the third
    CHECK(t.bytes(way, kr::region::everywhere, 0) == t.bytes(way, kr::region::everywhere, 2));
}

/// What the views of a routine are like.
struct shapes : kr::routine<"shapes", kr::on_host, kr::writes<flat, deep, table>> {
  template <class V>
  static void run(V v, bool const& is_left) {
    CHECK(v(flat{}).extent(0) == (is_left ? 16 : 11));
    CHECK(v(flat{}).extent(1) == (is_left ? 15 : 16));
    CHECK(v(deep{}).extent(0) == (is_left ? 16 : 11));
    CHECK(v(deep{}).extent(1) == 15);
    CHECK(v(deep{}).extent(2) == (is_left ? 5 : 8));
    CHECK(v(table{}).extent(0) == 9);
    CHECK(v.everywhere().end[1] == 15);
    CHECK(keel::block::blocked_view<whole>(v(deep{})).extent(is_left ? 0 : 2) == (is_left ? 2 : 1));
  }
};

TEST_CASE("residency: rows of whole packs hold the same cells, and cost the same bytes") {
  check<app<Kokkos::LayoutRight>>("simulated");
  check<app<Kokkos::LayoutLeft>>("simulated");
  check<app<Kokkos::LayoutRight, kr::checked>>("simulated");
  check<app<Kokkos::LayoutRight>>(test::host::name);
}
TEST_CASE("residency: the extent of neighbours in memory is a multiple of the padding, in either layout") {
  auto const look = []<class Layout>(Layout, bool is_left) {
    test::run<> run{"simulated"};
    kr::fields<app<Layout>, flat, deep, table> f{run, kr::grid{{9, 13}, kr::ghost_width{1}}, kr::extra<deep>{5},
                                                 kr::extra<table>{7}};
    f.run(shapes{}, is_left);
  };
  look(Kokkos::LayoutRight{}, false);
  look(Kokkos::LayoutLeft{}, true);
}

struct fixed : kr::variable<"fixed", double* [6], kr::off_grid, kr::padded<4>> {};

TEST_CASE("residency: a length that a type fixes is not padded") {
  test::run<> run{test::host::name};
  using fields = kr::fields<app<Kokkos::LayoutRight>, fixed>;
  CHECK(
      keel::test::message_of([&] { fields(run, kr::grid{{4}}, kr::extra<fixed>{3}); }) ==
      "keel::residency::fields: variable fixed is padded<4>, and its dimension 1 has 6 elements (its type fixes them). "
      "Give the type a multiple.");
  kr::fields<app<Kokkos::LayoutLeft>, fixed> const left{run, kr::grid{{4}}, kr::extra<fixed>{3}};
  CHECK(left.bytes<fixed>()[0] == 4 * 6 * sizeof(double));
}

} // namespace padded_cases
