// SPDX-License-Identifier: MIT
// Fields on folded grids.
#include <keel/residency/fields.hpp>

#include "pole.hpp"

#include <residency/in_folder.hpp>
#include <residency/model.hpp>

#include <keel/residency/gather.hpp>
#include <keel/schedule/checkpoint.hpp>

#include <cmath>
#include <map>

namespace {

using namespace test;

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

struct h : kr::variable<"h", double**, kr::levels<2>> {};
struct u : kr::variable<"u", double**, kr::at<kr::face<0>>, kr::sign<-1>> {};
struct w : kr::variable<"w", double**, kr::at<kr::face<1>>, kr::sign<-1>> {};

struct push : kr::routine<"push", kr::on_device, kr::reads<kr::inside<h>>, kr::updates<u, w>> {
  template <class V>
  static void run(V v) {
    auto const H = v(h{});
    auto const U = v(u{});
    auto const W = v(w{});
    kr::share const s = v.local(w{});
    int const wall = s.is_wall(1, kr::side::low) ? int(s.owned().begin[1]) : -1;
    kr::for_each_cell(v, v.owned(u{}), KOKKOS_LAMBDA(int i, int j) { U(i, j) -= 0.1 * (H(i, j) - H(i - 1, j)); });
    kr::for_each_cell(
        v, v.owned(w{}), KOKKOS_LAMBDA(int i, int j) {
          if (j != wall) W(i, j) -= 0.1 * (H(i, j) - H(i, j - 1));
        });
  }
};
struct flow : kr::routine<"flow", kr::on_device, kr::reads<kr::owned<kr::past<h, 1>>, kr::inside<u>, kr::inside<w>>,
                          kr::writes<h>> {
  template <class V>
  static void run(V v) {
    auto const H = v(h{});
    auto const was = v(kr::past<h, 1>{});
    auto const U = v(u{});
    auto const W = v(w{});
    kr::for_owned(
        v,
        KOKKOS_LAMBDA(int i, int j) { H(i, j) = was(i, j) - 0.1 * (U(i + 1, j) - U(i, j) + W(i, j + 1) - W(i, j)); });
  }
};
struct step : kr::schedule<kr::exchange<h>, push, kr::exchange<u, w>, kr::cycle<h>, flow> {};
struct saved_step : kr::schedule<step, kr::every<4, kr::checkpoint<"folded">>> {};
/// A cell about a pole is its own image, so that only half of it is there.
struct mass_of : kr::routine<"mass", kr::on_device, kr::reads<kr::owned<h>>> {
  template <class V>
  static double run(V v) {
    auto const H = v(h{});
    kr::share const s = v.local();
    auto const here = [&](int d, std::int64_t whole) { return int(whole - s.global_begin[d] + s.owned().begin[d]); };
    bool const has_poles = s.folds.is_centred(0) && s.folds.is_centred(1);
    int const row = has_poles ? here(1, s.global_extents[1] - 1) : -1, first = here(0, 0),
              second = here(0, s.global_extents[0] / 2);
    return kr::sum_owned(
        v, KOKKOS_LAMBDA(int i, int j) { return j == row && (i == first || i == second) ? H(i, j) / 2 : H(i, j); });
  }
};

struct ocean {
  run<km::mpi>& on;
  kr::fields<app_left, h, u, w> f;
  explicit ocean(run<km::mpi>& r, kr::grid const& g) : on(r), f(r, g) {}
  void begin() {
    f.run(call<kr::writes<kr::owned<h>, kr::owned<u>, kr::owned<w>>>{}, [&](auto v) {
      kr::share const s = v.local();
      for_all(s.owned(), 2, [&](kr::indices const& i) {
        auto const at = in_grid(s, i);
        v(h{})(i[0], i[1]) = 10 + std::exp(-0.1 * double((at[0] - 3) * (at[0] - 3) + (at[1] - 7) * (at[1] - 7)));
      });
      for_all(v.owned(u{}), 2, [&](kr::indices const& i) { v(u{})(i[0], i[1]) = 0; });
      for_all(v.owned(w{}), 2, [&](kr::indices const& i) { v(w{})(i[0], i[1]) = 0; });
    });
  }
  void run_steps(auto schedule, int n) {
    for (int k = 0; k < n; ++k) f.step(schedule);
  }
  double mass() { return km::sum(on.environment(), f.run(mass_of{})); }
  /// All values, on the first rank.
  std::vector<double> whole() {
    std::vector<double> made;
    auto const add = [&](auto const& all) { made.insert(made.end(), all.data(), all.data() + all.size()); };
    add(kr::gather(f, h{}, 0)), add(kr::gather(f, u{}, 0)), add(kr::gather(f, w{}, 0));
    return made;
  }
};
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

TEST_CASE("fold: a wave keeps mass, and has equal bits on any ranks and devices") {
  for (kr::grid const& g : seas) {
    auto const whole = same_on_all_ranks([&](run<km::mpi>& some) {
      ocean all(some, g);
      all.begin();
      double const before = all.mass();
      all.run_steps(step{}, 40);
      CHECK(std::abs(all.mass() - before) < 1e-12 * before);
      return all.whole();
    });
    if (!whole.empty()) CHECK(std::abs(*std::max_element(whole.begin(), whole.begin() + 16 * 11)) < 20);
  }
}

TEST_CASE("fold: files, on other ranks") {
  for_numbers_of_ranks([](int before, int after) {
    std::vector<double> wanted;
    on_ranks(before, "simulated", [&](auto& some) {
      ocean all(some, seas[1]);
      all.begin(), all.run_steps(saved_step{}, 7), wanted = all.whole();
      all.f.run(kr::save<"sea", h, u>{});
    });
    on_ranks(after, host::name, [&](auto& some) {
      ocean all(some, seas[1]);
      all.f.restart("folded"), all.run_steps(step{}, 3);
      CHECK(all.whole() == wanted);
      ocean other(some, seas[0]);
      CHECK(refuses([&] { other.f.restart("folded"); }, "or the ghosts, periodic dimensions or folds differ"));
    });
  });
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
  kr::fields<app_left, h> f(r, seas[0]);
  using beyond = kr::schedule<kr::exchange<h>, kr::mirror<h, kr::on_side<1, kr::side::high>>>;
  CHECK(refuses([&] { f.step(beyond{}); },
                "is for the upper side of dimension 1 (the grid is folded there, and has no wall)"));
  using below = kr::schedule<kr::exchange<h>, kr::mirror<h>>;
  f.run(call<kr::writes<kr::owned<h>>>{},
        [&](auto v) { for_all(v.owned(), 2, [&](kr::indices const& i) { v(h{})(i[0], i[1]) = 1; }); });
  f.step(below{});
  CHECK(f.run(call<kr::reads<h>>{}, [&](auto v) {
    int wrong = 0;
    for_all(v.everywhere(), 2, [&](kr::indices const& i) { wrong += v(h{})(i[0], i[1]) == 1 ? 0 : 1; });
    return wrong;
  }) == 0);
  if (r.environment().size() == 1) return;
  kr::grid const apart = seas[r.environment().rank() == 0 ? 0 : 1];
  CHECK(refuses([&] { kr::fields<app_left, h>(r, apart); }, "differ between ranks"));
}
