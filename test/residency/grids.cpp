// SPDX-License-Identifier: MIT
// Variables that lie on a grid in any way: what exchanges fill and what is added to owners, beside the model.
#include <keel/impl/layout/grid/grid_share.hpp>
#include <keel/layout/grid.hpp>

#include "model.hpp"

namespace grid_cases {

using namespace test;

struct mass : kr::variable<"mass", double**> {};
struct corner : kr::variable<"corner", double***, kr::at<kr::vertex>> {};
struct flux : kr::variable<"flux", double**, kr::at<kr::face<0>>> {};
struct circulation : kr::variable<"circulation", float**, kr::at<kr::edge<0>>, kr::levels<2>> {};
struct wide : kr::variable<"wide", double**, kr::ghosts<3, 2>> {};
struct thin : kr::variable<"thin", double**, kr::at<kr::vertex>, kr::ghosts<0>> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};
struct height : kr::variable<"height", double*, kr::along<0>, kr::at<kr::face<0>>> {};
struct rows : kr::variable<"rows", double**, kr::padded<8>> {};
struct large : kr::variable<"large", std::uint64_t**> {};
struct deep : kr::variable<"deep", std::int32_t***, kr::padded<8>, kr::levels<2>> {};
template <int R>
struct force : kr::variable<"force", stars<double, R>> {};
template <int R>
struct wave : kr::variable<"wave", stars<Kokkos::complex<float>, R + 1>> {};

template <class X>
void try_one(auto& env, auto& f) {
  CAPTURE(X::about.name);
  fill<kr::everywhere<X>>(f), touch<X>(f);
  f.run(kr::exchange<X>{});
  CHECK(wrong<X>(f) == 0);
  if constexpr (X::about.levels > 1) {
    f.run(kr::cycle<X>{});
    fill<X>(f, 2);
    CHECK(wrong<kr::past<X, 1>>(f) == 0);
    f.run(kr::exchange<X>{});
    CHECK(wrong_inside<X>(f, 2) == 0);
  }
  kr::share const s = f.template local<X>(kr::component{0});
  scatter<X>(f, env.rank());
  auto const owned = listed<kr::owned<X>>(env, f);
  std::int64_t elements = 1; // each is owned once
  for (int d = 0; d < s.rank; ++d) elements *= s.global_extents[d];
  if (X::about.on.along == 0) CHECK(std::int64_t(owned.size()) % elements == 0);
  auto const all = sums<kr::inside<X>>(env, f);
  if (X::about.on.along == 0) CHECK(all.size() == owned.size());
  touch<kr::everywhere<X>>(f);
  f.reset_traffic();
  f.run(kr::accumulate<X>{});
  CHECK(f.traffic().bytes(kr::way::to_neighbours) == f.traffic().bytes(kr::way::to_neighbours, kr::region::halo));
  CHECK(sums<kr::owned<X>>(env, f) == all);
}
template <class App, class... Xs>
void try_all(std::string_view device, kr::grid const& g, auto const&... extras) {
  run<km::mpi> here{device};
  kr::fields<App, Xs...> f{here, g, extras...};
  (try_one<Xs>(here.environment(), f), ...);
}
template <class App>
void try_planes(std::string_view device, kr::grid const& g) {
  try_all<App, mass, corner, flux, circulation, wide, thin, length, height, rows, large, deep, force<2>, wave<2>>(
      device, g, kr::extra<corner, wave<2>>{3}, kr::extra<deep>{4});
}

TEST_CASE("residency: exchanges fill all ghosts that have a neighbour, and accumulates add them to their owners") {
  kr::ghost_width const two{2, 1};
  int const ranks = km::environment().size();
  for (auto const& wraps :
       {kr::periodic{false}, kr::periodic{true}, kr::periodic{true, false}, kr::periodic{false, true}}) {
    try_planes<app_right>(host::name, {{24, 17}, two, wraps});
    try_planes<app_left>("simulated", {{25, 16}, two, wraps});
    try_planes<app_left>("simulated", {{25, 17}, two, wraps, kr::blocks{3}});
    try_planes<app_left>(host::name, {{25, 17}, two, wraps, with_idle_ranks(ranks, 25, 17)});
    try_planes<app_right>("simulated", {{24, 17}, kr::ghost_width{1, 2}, wraps, with_idle_ranks(ranks, 24, 17)});
  }
  try_all<app_left, force<2>, wave<2>>(host::name, {{9, 13}, kr::ghost_width{0, 2}, kr::periodic{true}},
                                       kr::extra<wave<2>>{1});
  try_all<app_left, force<2>, wave<2>>("simulated", {{8, 8}, kr::ghost_width{2}, kr::periodic{true}}, // all is rim
                                       kr::extra<wave<2>>{2});
}

TEST_CASE("residency: exchanges and accumulates in one and three dimensions") {
  for (auto const device : either_device) {
    try_all<app_right, force<1>, wave<1>>(device, {{26}, kr::ghost_width{3}, kr::periodic{true}},
                                          kr::extra<wave<1>>{2});
    try_all<app_left, force<1>, wave<1>>(device, {{17}, kr::ghost_width{1}}, kr::extra<wave<1>>{2});
    try_all<app_right, force<3>, wave<3>>(
        device, {{9, 17, 7}, kr::ghost_width{1, 2, 1}, kr::periodic{true, false, true}, kr::blocks{2}},
        kr::extra<wave<3>>{2});
    try_all<app_left, force<3>, wave<3>>(device, {{8, 9, 5}, kr::ghost_width{2, 1, 1}, kr::periodic{true, false, true}},
                                         kr::extra<wave<3>>{2});
  }
}

TEST_CASE("residency: messages of an exchange on the device go by way of the host where MPI cannot reach them") {
  struct closed_pages { // MPI would fault; and later cases, if this one threw
    closed_pages() { keel::space::set_guard(keel::space::guard::pages); }
    ~closed_pages() { keel::space::set_guard(keel::space::guard::views); }
  } const closed;
  try_all<app_left, mass, wide>("simulated", {{24, 17}, kr::ghost_width{2, 1}, kr::periodic{true, false}});
}

TEST_CASE("residency: each component is exchanged, and accumulated, by itself") {
  run<km::mpi> here{"simulated"};
  kr::fields<app_left, mass> f{here, kr::grid{{9, 13}, kr::ghost_width{2, 1}, kr::periodic{true}}, kr::components{2}};
  fill<mass>(f);
  f.run(kr::exchange<mass>{}, kr::component{1});
  CHECK(wrong_inside<mass>(f, 1, 1) == 0);
  CHECK_FALSE(f.is_valid<mass, keel::simulated>(kr::region::halo, kr::component{0}));
  f.run(kr::exchange<mass>{});
  CHECK(wrong_inside<mass>(f) == 0);
  f.run(kr::accumulate<mass>{}, kr::component{1});
  CHECK(f.is_valid<mass>(kr::region::halo, kr::component{0}));
  CHECK_FALSE(f.is_valid<mass, keel::simulated>(kr::region::halo, kr::component{1}));
  CHECK(f.is_valid<mass, keel::simulated>(kr::region::rim, kr::component{1}));
}

TEST_CASE("residency: an exchange of more boxes than travel with a kernel takes two kernels at most") {
  run<km::mpi> here{twin::name};
  kr::fields<app_twin, force<3>> g{here, kr::grid{{9, 8, 10}, kr::ghost_width{1}, kr::periodic{true}}};
  for (int n = 0; n < 2; ++n) {
    fill<force<3>>(g, n), touch<force<3>>(g);
    (void)kernels_called("keel: regions");
    g.run(kr::exchange<force<3>>{});
    int const kernels = kernels_called("keel: regions");
    if (n > 0) CHECK(kernels <= 2);
    stop_counting();
    CHECK(wrong_inside<force<3>>(g, n) == 0);
  }
}

TEST_CASE("residency: a variable that the grid cannot carry") {
  run<km::mpi> here{host::name};
  CHECK(refuses([&] { kr::fields<app_right, wide> f(here, kr::grid{{40, 1}}); },
                "variable wide has ghosts of a width of 2 in dimension 1"));
  CHECK(refuses([&] { kr::fields<app_right, length> f(here, kr::grid{{40}}); },
                "variable length lies along dimension 1"));
  CHECK(refuses([&] { kr::fields<app_right, mass>{here, kr::grid{{8, 9}}, kr::further_grids{{kr::grid{{8}}}}}; },
                "dimension"));
}

// Rows of whole packs.

/// What the views of a routine are like.
template <class Layout>
void have_whole_rows(bool is_left) {
  run<> here{"simulated"};
  kr::fields<application<both, kr::automatic, Layout>, rows, mass, deep> f{here, kr::grid{{9, 13}, kr::ghost_width{1}},
                                                                           kr::extra<deep>{5}};
  f.run(call<kr::writes<rows, deep>>{}, [&](auto v) {
    CHECK(v(rows{}).extent(0) == (is_left ? 16 : 11));
    CHECK(v(rows{}).extent(1) == (is_left ? 15 : 16));
    CHECK(v(deep{}).extent(0) == (is_left ? 16 : 11));
    CHECK(v(deep{}).extent(1) == 15);
    CHECK(v(deep{}).extent(2) == (is_left ? 5 : 8));
    CHECK(v.everywhere().end[1] == 15);
  });
  CHECK(f.template bytes<rows>() == f.template bytes<mass>());
}
struct table : kr::variable<"table", float*, kr::off_grid, kr::padded<3>> {};
struct fixed : kr::variable<"fixed", double* [6], kr::off_grid, kr::padded<4>> {};
TEST_CASE("residency: the extent of neighbours in memory is a multiple of the padding, in either layout") {
  have_whole_rows<Kokkos::LayoutRight>(false);
  have_whole_rows<Kokkos::LayoutLeft>(true);
  run<> here{"simulated"};
  kr::fields<application<both>, table> f{here, kr::grid{{9}}, kr::extra<table>{7}};
  CHECK(f.run(call<kr::writes<table>>{}, [](auto v) { return v(table{}).extent(0); }) == 9);
}

TEST_CASE("residency: a length that a type fixes is not padded") {
  run<km::mpi> here{host::name};
  CHECK(
      message_of([&] { kr::fields<app_right, fixed>(here, kr::grid{{40}}, kr::extra<fixed>{3}); }) ==
      "keel::residency::fields: variable fixed is padded<4>, and its dimension 1 has 6 elements (its type fixes them). "
      "Give the type a multiple.");
  kr::fields<app_left, fixed> const f{here, kr::grid{{40}}, kr::extra<fixed>{3}};
  CHECK(f.bytes<fixed>()[0] == 4 * 6 * sizeof(double));
}

TEST_CASE("residency: no kernel of an accumulate adds to a cell twice") {
  for (int ranks : {1, 2, 4, 6})
    for (kr::grid const& g : {kr::grid{{9, 13}, kr::ghost_width{2, 1}, kr::periodic{true}},
                              kr::grid{{8, 9, 5}, kr::ghost_width{2}, kr::periodic{true, false, true}}}) {
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

} // namespace grid_cases
