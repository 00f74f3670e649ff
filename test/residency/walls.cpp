// SPDX-License-Identifier: MIT
// Conditions at the walls, beside a reference that knows only the indices of the whole grid.
#include <keel/schedule/walls.hpp>

#include "model.hpp"

namespace walls_cases {

using namespace test;

struct density : kr::variable<"density", double**> {};
struct energy : kr::variable<"energy", float**, kr::levels<2>> {};
struct xvel : kr::variable<"xvel", double***, kr::at<kr::vertex>> {};
struct flux : kr::variable<"flux", double**, kr::at<kr::face<1>>, kr::ghosts<2, 3>> {};
struct line : kr::variable<"line", int*> {};
struct node : kr::variable<"node", double*, kr::at<kr::vertex>> {};
struct block : kr::variable<"block", double***> {};
struct corner : kr::variable<"corner", double***, kr::at<kr::vertex>> {};
struct width : kr::variable<"width", double*, kr::along<1>> {};

struct inflow {
  static constexpr double value = 2.5;
};
struct drain {
  static constexpr double value = -inflow::value;
};

/// What the ghosts at one end of a dimension should get.
struct rule {
  kr::wall_values what = kr::wall_values::none;
  double sign = 1;
};
constexpr rule none{}, mirrored{kr::wall_values::mirrored}, turned{kr::wall_values::mirrored, -1},
    continued{kr::wall_values::continued}, past{kr::wall_values::past}, constant{kr::wall_values::constant},
    drained{kr::wall_values::constant, -1};
/// By dimension and end; and of how many layers in each dimension.
struct expectation {
  rule of[3][2]{};
  std::array<int, 3> layers{9, 9, 9};
};

/// Another number for each element, from where it lies in the whole grid.
double number_of(kr::share const& s, kr::indices at, double more = 0) {
  double number = 0;
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t const n = s.global_extents[d], i = s.wraps[std::size_t(d)] ? (at[d] + 2 * n) % n : at[d];
    number = 60 * number + double(i + 10);
  }
  return number + more;
}
/// What an element gets after an exchange: dimension by dimension, the last one first, as if it were filled last.
double expected(expectation const& e, kr::share const& s, kr::indices at) {
  double factor = 1, more = 0;
  for (int d = s.rank; d-- > 0;) {
    std::int64_t const n = s.global_extents[d];
    if (s.wraps[std::size_t(d)]) continue;
    bool const is_low = at[d] < 0;
    if (!is_low && at[d] < n) continue;
    std::int64_t const last = is_low ? 0 : n - 1;
    rule const& r = e.of[d][is_low ? 0 : 1];
    factor *= r.sign;
    if (r.what == kr::wall_values::none) more = 0.25; // what lay there
    else if (r.what == kr::wall_values::constant) return factor * inflow::value;
    else if (r.what == kr::wall_values::past) return factor * number_of(s, at, 0.5);
    else if (r.what == kr::wall_values::continued) at[d] = last;
    else at[d] = 2 * last + (s.longer[d] != 0 ? 0 : is_low ? -1 : 1) - at[d];
  }
  return factor * number_of(s, at, more);
}

kr::indices beyond_grid(kr::share const& s, kr::indices at) {
  for (int d = 0; d < s.rank; ++d) at[d] += s.global_begin[d] - s.owned().begin[d];
  return at;
}

/// Whether no condition reaches an element beyond walls: it is too far out in a dimension that has one, or in others
/// further than any of these reaches.
bool stays(expectation const& e, kr::share const& s, kr::indices const& i) {
  int reach = 0, out[3]{};
  bool is_beyond[3]{}, is_out = false;
  for (int d = 0; d < s.rank; ++d) {
    kr::bounds const own = s.owned();
    bool const is_low = i[d] < own.begin[d];
    out[d] = int(std::max({own.begin[d] - i[d], i[d] + 1 - own.end[d], std::int64_t{0}}));
    is_beyond[d] = out[d] > 0 && s.is_wall(d, is_low ? kr::side::low : kr::side::high);
    is_out = is_out || is_beyond[d];
    if (is_beyond[d] && e.of[d][is_low ? 0 : 1].what != kr::wall_values::none)
      reach = std::max(reach, e.layers[std::size_t(d)]);
  }
  bool is_far = false;
  for (int d = 0; d < s.rank; ++d) is_far = is_far || out[d] > (is_beyond[d] ? e.layers[std::size_t(d)] : reach);
  return is_out && is_far;
}

/// Writes all of a level; ghosts get what lies nowhere else.
template <class X, bool IsPast = false>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<X>>> {
  template <class V>
  static void run(V v) {
    using variable = typename kr::detail::item<X>::variable;
    auto const x = v(X{});
    using type = std::remove_cvref_t<decltype(x.data()[0])>;
    kr::share const s = v.local(variable{});
    for_all(s.everywhere(), s.rank, [&](kr::indices const& i) {
      kr::indices const at = beyond_grid(s, i);
      auto const value = type(number_of(s, at, is_in(s.owned(), s.rank, i) ? 0 : IsPast ? 0.5 : 0.25));
      at_place(x, s.rank, i, [&](auto& element, int, int) { element = value; });
    });
  }
};
template <class X>
struct check : kr::routine<"check", kr::on_host, kr::reads<X>> {
  template <class V>
  static int run(V v, expectation const& e) {
    auto const x = v(X{});
    using type = std::remove_cvref_t<decltype(x.data()[0])>;
    kr::share const s = v.local(X{});
    int wrong = 0;
    for_all(s.everywhere(), s.rank, [&](kr::indices const& i) {
      kr::indices const at = beyond_grid(s, i);
      auto const value = type(stays(e, s, i) ? number_of(s, at, 0.25) : expected(e, s, at));
      at_place(x, s.rank, i, [&](auto const& element, int, int) { wrong += element == value ? 0 : 1; });
    });
    return wrong;
  }
};

template <class X, class App, class Entries>
void try_one(auto& f, expectation const& e) {
  CAPTURE(X::about.name);
  f.run(fill<X>{});
  if constexpr (X::about.levels > 1) f.run(fill<kr::past<X, 1>, true>{});
  f.run(Entries{});
  for (int c = 0; c < f.components(); ++c) CHECK(f.run(check<X>{}, kr::component{c}, e) == 0);
}

template <class X, class... Conditions>
using after_exchange = kr::schedule<kr::exchange<X>, Conditions...>;
using low = kr::on_side<0, kr::side::low>;

template <class App>
void try_planes(kr::grid const& g, std::string_view device) {
  test::run<km::mpi> run{device};
  kr::fields<App, density, energy, xvel, flux, width> f{run, g, kr::extra<xvel>{1}};
  expectation const all_mirrored{{{mirrored, mirrored}, {mirrored, mirrored}}};
  try_one<density, App, after_exchange<density, kr::mirror<density>>>(f, all_mirrored);
  try_one<xvel, App, after_exchange<xvel, kr::mirror<xvel, kr::sign<-1, 1>>>>(
      f, {{{turned, turned}, {mirrored, mirrored}}});
  try_one<flux, App, after_exchange<flux, kr::mirror<flux, kr::sign<-1>>>>(f, {{{turned, turned}, {turned, turned}}});
  try_one<flux, App, after_exchange<flux, kr::mirror<kr::depth<1, flux>, kr::sign<1, -1>>>>(
      f, {{{mirrored, mirrored}, {turned, turned}}, {1, 1}});
  try_one<flux, App,
          after_exchange<flux, kr::mirror<kr::depth<1, flux>, kr::on_side<0>>, kr::outflow<flux, kr::on_side<1>>>>(
      f, {{{mirrored, mirrored}, {continued, continued}}, {1, 9}});
  try_one<
      density, App,
      after_exchange<density, kr::fixed<density, inflow, low>,
                     kr::fixed<density, drain, kr::on_side<0, kr::side::high>>, kr::mirror<density, kr::on_side<1>>>>(
      f, {{{constant, drained}, {mirrored, mirrored}}});
  try_one<xvel, App, after_exchange<xvel, kr::outflow<xvel>>>(f, {{{continued, continued}, {continued, continued}}});
  try_one<energy, App, after_exchange<energy, kr::fixed<energy>>>(f, {{{past, past}, {past, past}}});
  try_one<density, App, after_exchange<density, kr::fixed<density>>>(f, {});
  try_one<density, App, after_exchange<density, kr::fixed<density, inflow>>>(
      f, {{{constant, constant}, {constant, constant}}});
  try_one<energy, App,
          after_exchange<energy, kr::fixed<energy, low>, kr::outflow<energy, kr::on_side<0, kr::side::high>>,
                         kr::mirror<energy, kr::sign<-1>, kr::on_side<1>>>>(f, {{{past, continued}, {turned, turned}}});
  try_one<density, App,
          after_exchange<density, kr::outflow<density>, kr::fixed<density, inflow, low>,
                         kr::mirror<density, kr::sign<-1>, kr::on_side<1, kr::side::low>>>>(
      f, {{{constant, continued}, {turned, continued}}});
  try_one<density, App, after_exchange<density, kr::mirror<density, kr::on_side<1, kr::side::high>>>>(
      f, {{{none, none}, {none, mirrored}}});
  try_one<width, App, after_exchange<width, kr::mirror<width, kr::on_side<1>>>>(f, {{{mirrored, mirrored}}});
}
template <class App>
void try_lines(kr::grid const& g, std::string_view device) {
  test::run<km::mpi> run{device};
  kr::fields<App, line, node> f{run, g};
  try_one<line, App, after_exchange<line, kr::mirror<line, kr::sign<-1>>>>(f, {{{turned, turned}}});
  try_one<line, App, after_exchange<line, kr::outflow<line>>>(f, {{{continued, continued}}});
  try_one<node, App, after_exchange<node, kr::mirror<node, kr::sign<-1>, low>>>(f, {{{turned, none}}});
  try_one<node, App, after_exchange<node, kr::fixed<node, inflow>>>(f, {{{constant, constant}}});
}
template <class App>
void try_blocks(kr::grid const& g, std::string_view device) {
  test::run<km::mpi> run{device};
  kr::fields<App, block, corner> f{run, g};
  try_one<block, App, after_exchange<block, kr::mirror<block, kr::sign<1, -1, 1>>>>(
      f, {{{mirrored, mirrored}, {turned, turned}, {mirrored, mirrored}}});
  try_one<corner, App,
          after_exchange<corner, kr::outflow<corner, kr::on_side<0>, kr::on_side<1>>,
                         kr::mirror<corner, kr::sign<-1>, kr::on_side<2>>>>(
      f, {{{continued, continued}, {continued, continued}, {turned, turned}}});
}

template <class App>
void try_all(std::string_view device) {
  kr::ghost_width const widths{2, 1};
  for (auto const& wraps : {kr::periodic{false}, kr::periodic{true, false}, kr::periodic{true}})
    for (int const blocks : {1, 3}) try_planes<App>(kr::grid{{24, 25}, widths, wraps, kr::blocks{blocks}}, device);
  try_lines<App>(kr::grid{{17}, kr::ghost_width{2}}, device);
  int const ranks = test::run<km::mpi>{device}.environment().size();
  try_lines<App>(kr::grid{{2 * ranks}, kr::ghost_width{2}}, device); // shares as thin as their ghosts
  for (auto const& wraps : {kr::periodic{false}, kr::periodic{false, true, false}})
    try_blocks<App>(kr::grid{{9, 8, 10}, kr::ghost_width{2, 1, 2}, wraps}, device);
}

struct step : kr::schedule<kr::exchange<density, energy, xvel>, kr::mirror<density>, kr::mirror<xvel, kr::sign<-1, 1>>,
                           kr::fixed<energy, kr::on_side<0, kr::side::low>>,
                           kr::outflow<energy, kr::on_side<0, kr::side::high>, kr::on_side<1>>> {};

// Nothing but ghosts goes from one memory to another.
using planned = kr::plan<app_right, step, keel::simulated>;
static_assert(planned::copies(kr::device, kr::host, kr::core) == 0 &&
              planned::copies(kr::host, kr::device, kr::core) == 0);
static_assert(planned::copies(kr::device, kr::host, kr::region::walls) == 0);

TEST_CASE("residency: walls are mirrored, continued or fixed as the indices of the whole grid say") {
  try_all<app_right>(host::name);
  try_all<app<kr::on_device>>("simulated");
  try_all<app<kr::on_host, Kokkos::LayoutLeft>>("simulated");
}

TEST_CASE("residency: conditions at walls pass what checked looks for") {
  try_planes<app_checked>(kr::grid{{16, 24}, kr::ghost_width{2, 1}}, "simulated");
}

TEST_CASE("residency: conditions that follow on each other take one kernel") {
  test::run<km::mpi> run{"simulated"};
  kr::fields<app<kr::on_device>, density, energy, xvel> f{run, kr::grid{{24, 25}, kr::ghost_width{2}},
                                                          kr::extra<xvel>{3}};
  f.run(fill<density>{}), f.run(fill<energy>{}), f.run(fill<kr::past<energy, 1>>{}), f.run(fill<xvel>{});
  (void)kernels_called("keel: walls");
  f.step(step{});
  CHECK(kernels_called("keel: walls") == 1);
  stop_counting();
}

TEST_CASE("residency: as many signs as the grid has dimensions") {
  test::run<km::mpi> run{host::name};
  kr::fields<app_right, xvel> f{run, kr::grid{{16, 16}, kr::ghost_width{1}}, kr::extra<xvel>{2}};
  f.run(fill<xvel>{});
  CHECK(refuses([&] { f.run(after_exchange<xvel, kr::mirror<xvel, kr::sign<-1, 1, 1>>>{}); },
                "variable xvel gets 3 signs (it has 2 dimensions of the grid)"));
  f.run(fill<xvel>{});
  CHECK(refuses([&] { f.run(after_exchange<xvel, kr::mirror<xvel, kr::on_side<2, kr::side::low>>>{}); },
                "a condition for variable xvel names dimension 2 (the grid has 2 dimensions, counted from 0)"));
}

} // namespace walls_cases
