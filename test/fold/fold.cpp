// SPDX-License-Identifier: MIT
// Fields on folded grids.
#include <keel/residency/fields.hpp>

#include "pole.hpp"
#include "spread.hpp"

#include <cmath>
#include <map>

namespace {

using corner_pole = kr::fold<1>;
using cell_pole = kr::fold<1, kr::cell>;
constexpr kr::folding pivots[] = {{1, 0, kr::vertex::longer},  {1, 0, kr::cell::longer},   {1, 0, kr::face<0>::longer},
                                  {1, 0, kr::face<1>::longer}, {0, 1, kr::vertex::longer}, {0, 1, kr::cell::longer}};

template <int N>
using centring =
    std::conditional_t<N == 0, kr::cell,
                       std::conditional_t<N == 1, kr::face<0>, std::conditional_t<N == 2, kr::face<1>, kr::vertex>>>;
constexpr std::string_view names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
template <int N>
    struct x : kr::variable < names[N],
    double**, kr::at<centring<N % 4>>, kr::sign<N<4 ? 1 : -1>> {};
using all_exchanged = kr::exchange<x<0>, x<1>, x<2>, x<3>, x<4>, x<5>, x<6>, x<7>>;
template <class App>
using all_fields = kr::fields<App, x<0>, x<1>, x<2>, x<3>, x<4>, x<5>, x<6>, x<7>>;

bool is_twin(kr::share const& s, kr::indices const& i) { return is_in(kr::detail::twins_of(s), s.rank, i); }

/// Calls f(where it lies, its view, its share, indices) for the elements of a part of `x<N>`.
template <class Part, int N>
void each(auto& fields, pole p, auto const& f) {
  p.longer = x<N>::about.on.longer;
  fields.run(call<Part>{}, [&](auto v) {
    auto const values = v(x<N>{});
    kr::share const s = v.local(x<N>{});
    for_all(s.everywhere(), 2, [&](kr::indices const& i) { f(p, s, i, values(i[0], i[1])); });
  });
}

template <int N, class App>
void try_variable(all_fields<App>& f, pole const& p, km::basic_environment<km::mpi> const& env, bool adds) {
  constexpr bool is_signed = N >= 4;
  CAPTURE(names[N]);
  if (!adds) {
    int wrong = 0;
    each<kr::reads<kr::inside<x<N>>>, N>(f, p, [&](pole const& at, kr::share const& s, kr::indices const& i, double e) {
      if (!at.is_wall(s, i)) wrong += e == at.value(s, i, is_signed) ? 0 : 1;
    });
    CHECK(wrong == 0);
    return;
  }
  // What all copies of a point have, added up.
  std::vector<double> here;
  auto const weight = [](double value, int rank) { return value == 0 ? 0 : std::copysign(rank + 1, value); };
  using part = kr::writes<kr::everywhere<x<N>>>;
  each<part, N>(f, p, [&](pole const& at, kr::share const& s, kr::indices const& i, double& e) {
    double const value = at.value(s, i, is_signed);
    e = weight(value, env.rank());
    if (!at.is_wall(s, i)) here.insert(here.end(), {std::abs(value), std::abs(e)});
  });
  f.run(kr::accumulate<x<N>>{});
  auto all = km::gather(env, here, 0);
  share(env, all);
  std::map<double, double> sums;
  for (std::size_t n = 0; n < all.size(); n += 2) sums[all[n]] += all[n + 1];
  int wrong = 0;
  each<kr::reads<kr::owned<x<N>>>, N>(f, p, [&](pole const& at, kr::share const& s, kr::indices const& i, double e) {
    double const value = at.value(s, i, is_signed);
    if (is_in(s.owned(), 2, i) && !is_twin(s, i)) wrong += e == std::copysign(sums[std::abs(value)], value) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

template <class App>
void try_grid(kr::grid const& g, std::string_view device) {
  run<km::mpi> r(device);
  auto const& env = r.environment();
  all_fields<App> f(r, g);
  pole const p{g.folds(), g.extents(), 0};
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (each<kr::writes<kr::owned<x<N>>>, N>(f, p,
                                          [&](pole const& at, kr::share const& s, kr::indices const& i, double& e) {
                                            if (is_in(s.owned(), 2, i))
                                              e = is_twin(s, i) ? 0.5 : at.value(s, i, N >= 4);
                                          }),
     ...);
    (touch<kr::owned<x<N>>>(f), ...); // so that copies between memories have a part in it
    f.run(all_exchanged{});
    (try_variable<N, App>(f, p, env, false), ...);
    (try_variable<N, App>(f, p, env, true), ...);
    CHECK(sends_least<x<0>>(env, f));
    CHECK(sends_least<x<3>>(env, f));
  }(std::make_integer_sequence<int, 8>{});
}

struct u : kr::variable<"u", double**, kr::at<kr::face<0>>, kr::sign<-1>> {};
struct w : kr::variable<"w", double**, kr::at<kr::face<1>>, kr::sign<-1>> {};
kr::grid const seas[] = {{{16, 11}, kr::ghost_width{1}, kr::periodic{true, false}, corner_pole{}},
                         {{16, 11}, kr::ghost_width{2}, kr::periodic{true, false}, cell_pole{}}};

} // namespace

TEST_CASE("fold: ghosts are what lies at their place, and go back to it") {
  int number = 0;
  for (kr::folding const& folds : pivots)
    for (int const width : {1 + number % 3, 2}) {
      CAPTURE(number);
      int nx = 24, ny = 19 + number % 3;
      if (folds.at == 0) std::swap(nx, ny);
      kr::grid const g{{nx, ny},
                       kr::ghost_width{width},
                       kr::periodic{folds.at != 0, folds.at != 1},
                       folds,
                       kr::blocks{1 + number % 2}};
      if (++number % 2 == 0) try_grid<app_left>(g, "simulated");
      else try_grid<app_right>(g, host::name);
    }
}

TEST_CASE("fold: what spreads keeps its amount, and has equal bits on any ranks and devices") {
  try_spreading([](int) { return seas[0]; }, 16 * 11, 0);
  try_spreading([](int) { return seas[1]; }, 16 * 10 + 16 / 2 + 1, 16);
}

TEST_CASE("fold: files, on other ranks") {
  try_restarts<u, w>([](int) { return seas[1]; }, seas[0]);
}

TEST_CASE("fold: a fold that cannot be is refused in words, on every rank") {
  run<km::mpi> r(host::name);
  auto const refused = [&](kr::periodic wraps, kr::grid_option folds, int nx, int ny, std::string_view why) {
    CHECK(refuses([&] { kr::grid({nx, ny}, kr::ghost_width{2}, wraps, folds); }, why));
  };
  kr::periodic const around{true, false};
  refused(around, corner_pole{}, 15, 9, "there is an odd number of columns, 15, so that its two poles differ");
  refused(kr::periodic{true}, corner_pole{}, 16, 9, "dimension 1 is periodic, and has no end to be folded");
  refused(kr::periodic{false}, corner_pole{}, 16, 9, "dimension 0 ends at walls, and has no columns beyond them");
  refused(around, kr::fold<2>{}, 16, 9, "a fold of dimension 2 along 0 is refused (the grid has 2 dimensions");
  refused(around, cell_pole{}, 16, 2, "2 rows, of which one lies on the fold, are fewer than the ghosts need");
  kr::fields<app_left, tracer> f(r, seas[0]);
  using beyond = kr::schedule<kr::exchange<tracer>, kr::mirror<tracer, kr::on_side<1, kr::side::high>>>;
  CHECK(refuses([&] { f.step(beyond{}); },
                "is for the upper side of dimension 1 (the grid is folded there, and has no wall)"));
  using below = kr::schedule<kr::exchange<tracer>, kr::mirror<tracer>>;
  f.run(call<kr::writes<kr::owned<tracer>>>{},
        [&](auto v) { for_all(v.owned(), 2, [&](kr::indices const& i) { v(tracer{})(i[0], i[1]) = 1; }); });
  f.step(below{});
  CHECK(f.run(call<kr::reads<tracer>>{}, [&](auto v) {
    int wrong = 0;
    for_all(v.everywhere(), 2, [&](kr::indices const& i) { wrong += v(tracer{})(i[0], i[1]) == 1 ? 0 : 1; });
    return wrong;
  }) == 0);
  if (r.environment().size() == 1) return;
  kr::grid const apart = seas[r.environment().rank() == 0 ? 0 : 1];
  CHECK(refuses([&] { kr::fields<app_left, tracer>(r, apart); }, "differ between ranks"));
}
