// SPDX-License-Identifier: MIT
/// @file
/// Ghosts that are added to their owners, beside a sum over the shares of all ranks.
#include <keel/residency/loops.hpp>
#include <keel/impl/layout/decomposition.hpp>
#include <keel/residency/fields.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/mpi.hpp>
#include <keel/policy/error.hpp>
#include <keel/schedule/plan.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace accumulate_cases {

namespace kr = keel::residency;

template <class Exchange = kr::on_host, class Layout = Kokkos::LayoutRight>
struct app : test::application<keel::list<test::host, keel::simulated>, kr::automatic, Layout, keel::machine::mpi> {
  using exchange = Exchange;
};

template <class T, int Stars>
struct stars : stars<T*, Stars - 1> {};
template <class T>
struct stars<T, 0> {
  using type = T;
};
template <int R>
struct force : kr::variable<"force", typename stars<double, R>::type> {};
template <int R>
struct mass : kr::variable<"mass", typename stars<float, R + 1>::type, kr::levels<2>> {};
template <int R>
struct count : kr::variable<"count", typename stars<std::int32_t, R>::type> {};
template <int R>
struct large : kr::variable<"large", typename stars<std::uint64_t, R>::type> {};
template <int R>
struct wave : kr::variable<"wave", typename stars<Kokkos::complex<float>, R + 1>::type> {};

/// What a rank has scattered into a cell of its share, ghosts included.
KEEL_FUNCTION std::int64_t given(kr::share const& s, int rank, kr::indices const& at) {
  std::int64_t n = 7 * rank;
  for (int d = 0; d < s.rank; ++d) n += (s.global_begin[d] + at[d] + 20) * (3 + 2 * d);
  return n % 13 + 1;
}
template <class T>
KEEL_FUNCTION T as_element(std::int64_t n) {
  if constexpr (std::is_same_v<T, std::int32_t>) return T(-n);
  else if constexpr (std::is_same_v<T, std::uint64_t>) return T(n) << 40;
  else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) return {float(n), float(2 * n)};
  else return T(n);
}

/// The cell of the grid that a cell of a share is, or is a copy of; -1 beyond a wall.
std::int64_t cell_of(kr::share const& s, kr::indices const& at) {
  kr::bounds const inside = s.inside();
  std::int64_t cell = 0;
  for (int d = 0; d < s.rank; ++d) {
    if (at[d] < inside.begin[d] || at[d] >= inside.end[d]) return -1;
    std::int64_t const n = s.global_extents[d];
    cell = cell * n + (s.global_begin[d] + at[d] - s.width[d] + n) % n;
  }
  return cell;
}
/// By cell of the grid: what all ranks have given.
std::vector<std::int64_t> sums_of(kr::grid const& g, int ranks) {
  std::vector<std::int64_t> sums(4096, 0);
  for (int r = 0; r < ranks; ++r) {
    kr::share const s = share_of(g, ranks, r);
    for (std::int64_t n = 0, all = s.everywhere().size(s.rank); n < all; ++n) {
      kr::indices at;
      for (std::int64_t d = 0, left = n; d < s.rank; ++d)
        at[int(d)] = left % s.extents[int(d)], left /= s.extents[int(d)];
      if (std::int64_t const cell = cell_of(s, at); cell >= 0) sums[std::size_t(cell)] += given(s, r, at);
    }
  }
  return sums;
}

int wrong = 0, seen = 0;

/// Calls `f(element, number)`, with what the element is to be, for those of a cell.
template <int R, class Cells, class F>
struct at_each {
  Cells cells;
  F f;
  KEEL_CALLS_USER
  template <class... I>
    requires(sizeof...(I) == std::size_t{R})
  KEEL_FUNCTION void operator()(I... i) const {
    kr::indices const at{{std::int64_t(i)...}};
    if constexpr (Cells::rank == R) f(cells(i...), at, 1);
    else
      for (int k = 0; k < int(cells.extent(R)); ++k) f(cells(i..., k), at, k + 1);
  }
};
struct give {
  kr::share part;
  int rank;
  template <class T>
  KEEL_FUNCTION void operator()(T& element, kr::indices const& at, int times) const {
    element = as_element<T>(times * given(part, rank, at));
  }
};
struct compare {
  kr::share part;
  int rank;
  std::int64_t const* sums;
  template <class T>
  void operator()(T const& element, kr::indices const& at, int times) const {
    std::int64_t const cell = cell_of(part, at);
    ++seen, wrong += element != as_element<T>(times * (cell < 0 ? given(part, rank, at) : sums[cell]));
  }
};
template <int R, class V, class F, class... Xs>
void for_all(V v, kr::bounds const& where, F const& f, Xs... parts) {
  (kr::for_each_cell(v, where, at_each<R, decltype(v(parts)), F>{v(parts), f}), ...);
}

template <int R>
using past_mass = kr::past<mass<R>, 1>;
template <int R>
struct assemble : kr::routine<"assemble", kr::on_device,
                              kr::writes<kr::everywhere<force<R>>, kr::everywhere<past_mass<R>>,
                                         kr::everywhere<count<R>>, kr::everywhere<large<R>>, kr::everywhere<wave<R>>>> {
  template <class V>
  static void run(V v, int rank) {
    for_all<R>(v, v.everywhere(), give{v.local(), rank}, force<R>{}, past_mass<R>{}, count<R>{}, large<R>{}, wave<R>{});
  }
};
template <int R>
struct verify_owned : kr::routine<"verify_owned", kr::on_host, kr::reads<kr::owned<force<R>>, kr::owned<wave<R>>>> {
  template <class V>
  static void run(V v, int rank, std::vector<std::int64_t> const& sums) {
    for_all<R>(v, v.owned(), compare{v.local(), rank, sums.data()}, force<R>{}, wave<R>{});
  }
};
template <int R>
struct verify : kr::routine<"verify", kr::on_host, kr::reads<force<R>, past_mass<R>, count<R>, large<R>, wave<R>>> {
  template <class V>
  static void run(V v, int rank, std::vector<std::int64_t> const& sums) {
    for_all<R>(v, v.everywhere(), compare{v.local(), rank, sums.data()}, force<R>{}, past_mass<R>{}, count<R>{},
               large<R>{}, wave<R>{});
  }
};
template <int R>
struct assembly
    : kr::schedule<assemble<R>, kr::accumulate<force<R>, past_mass<R>, count<R>, large<R>, wave<R>>, verify_owned<R>,
                   kr::exchange<force<R>, past_mass<R>, count<R>, large<R>, wave<R>>, verify<R>> {};

template <int R, class App>
void adds_up(std::string_view device, kr::grid const& g) {
  test::run<keel::machine::mpi> run{device};
  kr::fields<App, force<R>, mass<R>, count<R>, large<R>, wave<R>> f{run, g, kr::extra<mass<R>>{2},
                                                                    kr::extra<wave<R>>{3}};
  int const rank = run.environment().rank(), ranks = run.environment().size();
  std::vector<std::int64_t> const sums = sums_of(g, ranks);
  wrong = seen = 0;
  for (int n = 0; n < 2; ++n) f.step(assembly<R>{}, rank, sums);
  CAPTURE(device);
  CHECK(wrong == 0);
  CHECK(seen > 0);
  auto const sent = [&](kr::region where) { return f.traffic().bytes(kr::way::to_neighbours, where); };
  CHECK(sent(kr::region::halo) == sent(kr::region::rim)); // by the accumulate, by the exchange
}

TEST_CASE("residency: ghosts are added to their owners, whatever the elements, dimensions, walls, widths and devices") {
  std::string_view const host = test::host::name, device = "simulated";
  adds_up<1, app<>>(host, {{26}, kr::ghost_width{3}, kr::periodic{true}});
  adds_up<1, app<>>(device, {{17}, kr::ghost_width{1}});
  for (bool x : {true, false})
    for (bool y : {true, false}) {
      adds_up<2, app<>>(host, {{9, 13}, kr::ghost_width{2, 1}, kr::periodic{x, y}});
      adds_up<2, app<kr::on_device>>(device, {{9, 13}, kr::ghost_width{1, 2}, kr::periodic{x, y}});
    }
  adds_up<2, app<>>(device, {{9, 13}, kr::ghost_width{2}, kr::periodic{true}});
  adds_up<2, app<kr::on_device>>(host, {{9, 13}, kr::ghost_width{0, 2}, kr::periodic{true}});
  adds_up<2, app<kr::on_device, Kokkos::LayoutLeft>>(device,
                                                     {{8, 8}, kr::ghost_width{2}, kr::periodic{true}}); // all is rim
  adds_up<3, app<kr::on_device>>(device, {{8, 9, 5}, kr::ghost_width{2, 1, 1}, kr::periodic{true, false, true}});
}

struct thirds : kr::routine<"thirds", kr::on_device, kr::writes<kr::everywhere<force<2>>>> {
  struct divide {
    kr::share part;
    int rank;
    KEEL_FUNCTION void operator()(double& element, kr::indices const& at, int) const {
      element = 1.0 / double(given(part, rank, at));
    }
  };
  template <class V>
  static void run(V v, int rank) {
    for_all<2>(v, v.everywhere(), divide{v.local(), rank}, force<2>{});
  }
};
struct smooth : test::empty<"smooth", kr::on_device, kr::reads<force<2>>> {};
struct forces : kr::schedule<thirds, kr::accumulate<force<2>>, kr::exchange<force<2>>, smooth> {};

kr::grid const small{{9, 13}, kr::ghost_width{2, 1}, kr::periodic{true}};

template <class App>
std::vector<double> forces_on(std::string_view device) {
  test::run<keel::machine::mpi> run{device};
  kr::fields<App, force<2>> f{run, small};
  f.step(forces{}, run.environment().rank());
  return f.run(test::call<kr::reads<kr::owned<force<2>>>>{}, [](auto v) {
    std::vector<double> kept;
    auto const own = v.owned();
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) kept.push_back(v(force<2>{})(i, j));
    return kept;
  });
}

TEST_CASE("residency: sums of an accumulate have the same bits in each run, on any device") {
  auto const first = forces_on<app<>>(test::host::name);
  CHECK(forces_on<app<>>(test::host::name) == first);
  CHECK(forces_on<app<>>("simulated") == first);
  CHECK(forces_on<app<kr::on_device>>("simulated") == first);
}

TEST_CASE("residency: no kernel of an accumulate adds to a cell twice") {
  for (int ranks : {1, 2, 4, 6})
    for (kr::grid const& g : {small, kr::grid{{8, 9, 5}, kr::ghost_width{2}, kr::periodic{true, false, true}}}) {
      int most = 0;
      for (int r = 0; r < ranks; ++r) {
        kr::share const s = share_of(g, ranks, r);
        auto const cut = kr::detail::decomposition_of({&s, 1}, 1, r);
        auto const turns = kr::detail::turns_of(cut);
        std::vector<kr::bounds> boxes;
        for (auto const& p : cut.partners)
          for (auto const& one : p.rims) boxes.push_back(one.box);
        for (auto const& o : cut.own) boxes.push_back(o.origins.box);
        REQUIRE(turns.size() == boxes.size());
        for (std::size_t a = 0; a < boxes.size(); ++a)
          for (std::size_t b = 0; b < a; ++b) {
            bool meet = true;
            for (int d = 0; d < s.rank; ++d)
              meet =
                  meet && std::max(boxes[a].begin[d], boxes[b].begin[d]) < std::min(boxes[a].end[d], boxes[b].end[d]);
            CHECK_FALSE((meet && turns[a] == turns[b]));
          }
        for (int t : turns) most = std::max(most, t + 1);
      }
      CHECK(most <= (g.rank() == 2 ? 3 : 11)); // of three dimensions 7, but where shares are all rim
    }
}

TEST_CASE("residency: an accumulate leaves ghosts valid nowhere, and is a part of the plan") {
  test::run<keel::machine::mpi> run{"simulated"};
  kr::fields<app<>, force<2>> f{run, small};
  int const rank = run.environment().rank();
  CHECK(keel::test::refuses([&] { f.run(kr::accumulate<force<2>>{}); }, "routine accumulate reads force"));
  f.run(thirds{}, rank);
  f.run(kr::accumulate<force<2>>{});
  CHECK(f.is_valid<force<2>>(kr::region::rim));
  CHECK_FALSE(f.is_valid<force<2>, keel::simulated>(kr::region::rim));
  for (auto const& why : {keel::test::message_of([&] { f.run(smooth{}); }),
                          keel::test::message_of([&] { f.run(kr::accumulate<force<2>>{}); })})
    CHECK(why.find(" reads force, level 0, halo, valid nowhere") != std::string::npos);
  auto const before = f.traffic();
  for (int n = 0; n < 3; ++n) f.step(forces{}, rank);
  using on_host = kr::plan<app<>, forces, keel::simulated>;
  static_assert(on_host::copies(kr::device, kr::host) == 2 && on_host::copies(kr::device, kr::host, kr::core) == 0);
  static_assert(on_host::copies(kr::host, kr::device) == 2 && on_host::copies(kr::host, kr::device, kr::core) == 0);
  static_assert(kr::plan<app<kr::on_device>, forces, keel::simulated>::copies(kr::device, kr::host) == 0);
  auto const moved = f.bytes<force<2>>();
  CHECK(f.traffic().bytes(kr::way::to_host) - before.bytes(kr::way::to_host) == 3 * (moved[1] + moved[2]));
  CHECK(f.traffic().bytes(kr::way::to_device) - before.bytes(kr::way::to_device) == 3 * (moved[1] + moved[2]));
}

TEST_CASE("residency: an accumulate of one component leaves the others alone") {
  test::run<keel::machine::mpi> run{test::host::name};
  kr::fields<app<>, force<2>> f{run, small, kr::components{2}};
  f.run(thirds{}, kr::component{0}, 0), f.run(thirds{}, kr::component{1}, 0);
  f.run(kr::accumulate<force<2>>{}, kr::component{1});
  CHECK(f.is_valid<force<2>>(kr::region::halo, kr::component{0}));
  CHECK_FALSE(f.is_valid<force<2>>(kr::region::halo, kr::component{1}));
  CHECK(f.is_valid<force<2>>(kr::region::owned, kr::component{1}));
}

} // namespace accumulate_cases
