// SPDX-License-Identifier: MIT
// Components that come and go: at random beside a plain model on the host, and what a program relies on.
#include <keel/residency/fields.hpp>

#include "meshes.hpp"
#include "routines.hpp"
#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/machine/reductions.hpp>
#include <keel/residency/loops.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regridding {

namespace kr = keel::residency;
namespace km = keel::machine;
using keel::test::message_of;

using test::meshes::app;
using test::meshes::cells;
using right = app<Kokkos::LayoutRight, kr::on_host>;
using left = app<Kokkos::LayoutLeft, kr::on_device, kr::checked>;

struct mass : kr::variable<"mass", double**, kr::levels<2>> {};
struct corner : kr::variable<"corner", double** [2], kr::at<kr::vertex>, kr::ghosts<2>> {};
struct flux : kr::variable<"flux", float**, kr::at<kr::face<0>>> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};
struct label : kr::variable<"label", int*, kr::off_grid> {};
struct age : kr::variable<"age", double*, kr::on_mesh<cells>> {};
struct spare : kr::scratch<"spare", double**> {};

/// Calls f(i, j) for all elements of these bounds; j is 0 in one dimension.
template <class F>
void for_all(kr::bounds const& b, int rank, F const& f) {
  for (auto i = b.begin[0]; i < b.end[0]; ++i)
    for (auto j = rank > 1 ? b.begin[1] : 0; j < (rank > 1 ? b.end[1] : 1); ++j) f(i, j);
}
template <class View>
KEEL_FUNCTION auto& element(View const& view, std::int64_t i, std::int64_t j) {
  if constexpr (View::rank == 1) return view(i);
  else if constexpr (View::rank == 2) return view(i, j);
  else return view(i, j, 1);
}
/// The number of an element, from where it lies in its grid.
inline std::int64_t number_of(kr::share const& s, std::int64_t i, std::int64_t j) {
  std::int64_t const at[] = {i, j};
  std::int64_t number = 0;
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t x = s.global_begin[d] + at[d] - s.owned().begin[d];
    if (s.wraps[std::size_t(d)]) x = (x + 4 * s.global_extents[d]) % s.global_extents[d];
    number = number * 50 + x;
  }
  return number;
}

/// The share of a variable, of one off the grid as if it lay on one.
template <class X, class V>
kr::share share_of(V const& v, std::int64_t elements) {
  if constexpr (X::about.lies_on_grid) return v.local(X{});
  kr::share s;
  s.rank = 1, s.extents[0] = s.global_extents[0] = elements, s.neighbour[0] = {-1, -1};
  return s;
}

/// Owned elements get the value of a model.
using values = std::vector<double>; ///< by number
template <class Part, class Reads>
struct compare : kr::routine<"compare", kr::on_host, kr::reads<Reads>> {
  template <class V>
  static std::int64_t run(V v, values const& model, bool const& with_ghosts) {
    auto const x = v(Part{});
    auto const s = share_of<typename kr::detail::item<Part>::variable>(v, std::int64_t(x.extent(0)));
    std::int64_t wrong = 0;
    for_all(with_ghosts ? s.inside() : s.owned(), s.rank, [&](auto i, auto j) {
      wrong += double(element(x, i, j)) == model[std::size_t(number_of(s, i, j))] ? 0 : 1;
    });
    return wrong;
  }
};
template <class X>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<X>> {
  template <class V>
  static void run(V v, int const& stamp) {
    auto const x = v(X{});
    using number = typename decltype(x)::value_type;
    auto const s = share_of<X>(v, std::int64_t(x.extent(0)));
    for_all(s.owned(), s.rank, [&](auto i, auto j) {
      if constexpr (decltype(x)::rank == 3) x(i, j, 0) = -1;
      element(x, i, j) = number(stamp * 3000 + number_of(s, i, j));
    });
  }
};
/// Leaves what is there valid only on the device.
template <class X>
struct on_device : kr::routine<"on_device", kr::on_device, kr::updates<kr::owned<X>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(X{});
    auto const own = share_of<typename kr::detail::item<X>::variable>(v, 1).owned();
    auto const first = own.begin;
    bool const has_some = own.begin[0] < own.end[0] && (x.rank == 1 || own.begin[1] < own.end[1]);
    Kokkos::parallel_for(
        "on_device", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, has_some ? 1 : 0),
        KOKKOS_LAMBDA(int) { element(x, first[0], first[1]) += 0; });
  }
};
struct use_spare : kr::routine<"use_spare", kr::on_device, kr::writes<spare>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto const x = v(spare{}, kr::component{c});
      auto const own = v.local(kr::component{c}).owned();
      using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
      Kokkos::parallel_for(
          "use_spare", policy(v.execution_space(), own.begin, own.end),
          KOKKOS_LAMBDA(int i, int j) { x(i, j) = i + j; });
    }
  }
};
/// A step that keeps the values.
struct keep : kr::routine<"keep", kr::on_device, kr::reads<kr::inside<kr::past<mass, 1>>>, kr::writes<mass>> {
  template <class V>
  static void run(V v) {
    for (int c = 0; c < v.components(); ++c) {
      auto const from = v(kr::past<mass, 1>{}, kr::component{c});
      auto const to = v(mass{}, kr::component{c});
      auto const own = v.local(kr::component{c}).owned();
      using policy = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
      Kokkos::parallel_for(
          "keep", policy(v.execution_space(), own.begin, own.end),
          KOKKOS_LAMBDA(int i, int j) { to(i, j) = from(i, j); });
    }
  }
};
struct step : kr::schedule<kr::exchange<mass>, kr::cycle<mass>, keep, kr::exchange<mass>> {};

/// What `fill` makes of all elements.
inline values scaled(int stamp) {
  values made(2500);
  std::iota(made.begin(), made.end(), stamp * 3000.0);
  return made;
}

/// A component as it should be: by part of a variable, values or nothing.
struct model {
  kr::grid whole;
  std::array<std::optional<values>, 7> parts;
};

/// The number of elements of a variable along a dimension of a grid.
template <class X>
std::int64_t extent_of(kr::grid const& g, int d) {
  return g.extents()[d] + (!g.is_periodic(d) && (X::about.on.longer >> d & 1) != 0 ? 1 : 0);
}

/// What `next` gets of `was`: zeros where it has nothing.
template <class X>
values moved(values const& was, kr::grid const& before, kr::grid const& next, kr::indices const& shift) {
  constexpr bool is_along = X::about.on.along != 0;
  values made(2500, 0.0);
  auto const source = [&](int d, std::int64_t x) -> std::int64_t {
    bool const is_longer = (X::about.on.longer >> d & 1) != 0;
    if (next.is_periodic(d) && is_longer && x == 0) x = next.extents()[d];
    std::int64_t const n = extent_of<X>(before, d), y = x + shift[d];
    return before.is_periodic(d) ? (y % n + n) % n : y < n ? y : -1;
  };
  for (std::int64_t i = 0; i < (is_along ? 1 : extent_of<X>(next, 0)); ++i)
    for (std::int64_t j = 0; j < extent_of<X>(next, 1); ++j) {
      std::int64_t const x = is_along ? 0 : source(0, i), y = source(1, j);
      if (x >= 0 && y >= 0) made[std::size_t(i * 50 + j)] = was[std::size_t(x * 50 + y)];
    }
  return made;
}

template <class App>
class program {
public:
  template <class Run>
  program(Run& run, unsigned seed)
      : draw_(seed), ranks_(run.environment().size()), models_{{some_grid(), {}}},
        part_(run.environment(), ids_of(run.environment().rank())),
        f_(run, models_[0].whole, part_, kr::extra<label>{3}) {}

  void play(int calls) {
    for (int n = 0; n < calls; ++n) {
      fill_some(n + 1);
      regrid();
      check();
    }
  }

private:
  using fields = kr::fields<App, mass, corner, flux, length, label, age, spare>;
  int below(int n) { return int(draw_() % unsigned(n)); }
  kr::grid some_grid() {
    int const nx = 16 + below(8), ny = 16 + below(8);
    bool const wraps = below(2) == 0, mixed = below(2) == 0;
    kr::ghost_width const width{1 + below(2), 1};
    if (below(2) == 0) return {{nx, ny}, width, kr::periodic{wraps, mixed}};
    // Shares of two cells or more, or none; there may be fewer of them than ranks.
    std::vector<std::vector<std::int64_t>> at{{0, nx}, {0, ny}};
    auto& cut = at[std::size_t(below(2))];
    std::int64_t const cells = cut[1];
    for (int n = below(ranks_); n > 0; --n) cut.push_back(below(5) == 0 ? cells : 2 * below(int(cells / 2)));
    std::sort(cut.begin(), cut.end());
    return {{nx, ny}, kr::cuts{at}, width, kr::periodic{wraps, mixed}};
  }
  static std::vector<std::int64_t> ids_of(int rank) {
    std::vector<std::int64_t> ids(std::size_t(5 + rank));
    std::iota(ids.begin(), ids.end(), 100 * rank);
    return ids;
  }

  template <class X, int Part>
  void fill_one(int stamp, int c) {
    if (below(3) == 0) return;
    f_.run(fill<X>{}, kr::component{c}, stamp);
    if (below(2) == 0) f_.run(on_device<X>{}, kr::component{c});
    models_[std::size_t(c)].parts[Part] = scaled(stamp);
  }
  void fill_some(int stamp) {
    for (int c = 0; c < int(models_.size()); ++c) {
      fill_one<mass, 0>(stamp, c), fill_one<corner, 2>(stamp, c), fill_one<flux, 3>(stamp, c);
      fill_one<length, 4>(stamp, c), fill_one<label, 5>(stamp, c), fill_one<age, 6>(stamp, c);
    }
    if (below(3) == 0) {
      f_.run(kr::cycle<mass>{});
      for (model& m : models_) m.parts[1] = std::move(m.parts[0]), m.parts[0].reset();
    }
  }

  void regrid() {
    std::vector<kr::patch> patches;
    std::vector<model> next;
    std::vector<bool> taken(models_.size());
    for (int n = 1 + below(4); n > 0; --n) {
      int const from = below(int(models_.size()) + 1) - 1;
      bool const is_same = from >= 0 && below(2) == 0;
      kr::grid const g = is_same ? models_[std::size_t(from)].whole : some_grid();
      kr::indices const shift{{is_same ? 0 : below(12), is_same ? 0 : below(12)}};
      patches.push_back({g, from, shift});
      model& made = next.emplace_back(model{g, {}});
      if (from < 0) continue;
      model const& was = models_[std::size_t(from)];
      auto const move = [&]<class X>(X, int part) {
        if (was.parts[std::size_t(part)])
          made.parts[std::size_t(part)] = moved<X>(*was.parts[std::size_t(part)], was.whole, g, shift);
      };
      move(mass{}, 0), move(mass{}, 1), move(corner{}, 2), move(flux{}, 3), move(length{}, 4);
      made.parts[5] = was.parts[5], made.parts[6] = was.parts[6];
    }
    f_.regrid(patches);
    models_ = std::move(next);
  }

  template <class Part, int N>
  void check_one(int c) {
    auto const& m = models_[std::size_t(c)].parts[N];
    CAPTURE(N);
    CAPTURE(c);
    if (!m)
      CHECK(message_of([&] { f_.run(compare<Part, kr::owned<Part>>{}, kr::component{c}, values{}, false); }) != "");
    else CHECK(f_.run(compare<Part, kr::owned<Part>>{}, kr::component{c}, *m, false) == 0);
  }
  template <class X, int N>
  void check_ghosts() {
    for (model const& m : models_)
      if (!m.parts[N]) return;
    f_.run(kr::exchange<X>{});
    for (int c = 0; c < int(models_.size()); ++c)
      CHECK(f_.run(compare<X, kr::inside<X>>{}, kr::component{c}, *models_[std::size_t(c)].parts[N], true) == 0);
  }
  void check() {
    REQUIRE(f_.components() == int(models_.size()));
    for (int c = 0; c < f_.components(); ++c) {
      CHECK(f_.local(kr::component{c}).global_extents == models_[std::size_t(c)].whole.extents());
      check_one<mass, 0>(c), check_one<kr::past<mass, 1>, 1>(c), check_one<corner, 2>(c), check_one<flux, 3>(c);
      check_one<length, 4>(c), check_one<label, 5>(c), check_one<age, 6>(c);
    }
    check_ghosts<mass, 0>(), check_ghosts<corner, 2>(), check_ghosts<flux, 3>(), check_ghosts<length, 4>();
    f_.run(use_spare{});
    for (model const& m : models_)
      if (!m.parts[0]) return;
    f_.step(step{}), f_.step(step{});
    for (model& m : models_) m.parts[1] = m.parts[0];
    for (int c = 0; c < f_.components(); ++c) check_one<mass, 0>(c), check_one<kr::past<mass, 1>, 1>(c);
  }

  std::mt19937 draw_;
  int ranks_;
  std::vector<model> models_;
  kr::partition<cells> part_;
  fields f_;
};

struct look : kr::routine<"look", kr::on_device, kr::reads<kr::owned<mass>>> {
  template <class V>
  static void run(V v, void*& at) {
    at = const_cast<double*>(v(mass{}).data());
  }
};
template <class App>
void play_all(std::string_view device, unsigned seeds) {
  CAPTURE(device);
  test::run<km::mpi> run{device};
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    CAPTURE(seed);
    program<App>(run, seed).play(6);
  }
}

TEST_CASE("residency: components come, go and move at random, and their values are those of a plain model") {
  play_all<right>(test::host::name, 3);
  play_all<right>("simulated", 3);
  play_all<left>("simulated", 1);
}

TEST_CASE("residency: a patch that moves takes its cells along, and one that stays keeps its arrays") {
  test::run<km::mpi> run{"simulated"};
  kr::grid const base{{16, 12}, kr::ghost_width{1}, kr::periodic{true}}, fine{{16, 12}, kr::ghost_width{1}},
      other{{9, 8}, kr::ghost_width{2}};
  kr::fields<right, mass, age> f{
      run, base, kr::further_grids{{fine, other}},
      kr::partition<cells>{run.environment(), std::vector<std::int64_t>{run.environment().rank()}}};
  for (int c = 0; c < 3; ++c) f.run(fill<mass>{}, kr::component{c}, c + 1), f.run(fill<age>{}, kr::component{c}, c + 1);
  f.step(step{}), f.step(step{});
  auto const place = [&](int c) {
    void* at = nullptr;
    f.run(look{}, kr::component{c}, at);
    return at;
  };
  f.run(on_device<kr::past<mass, 1>>{}, kr::component{2}); // valid only on the device
  std::array<void*, 3> const before{place(0), place(1), place(2)};
  // The fine one moves, the others stay with other numbers. No byte goes between memories.
  f.reset_traffic();
  f.regrid({kr::patch{other, 2}, kr::patch{fine, 1, {8, 2}}, kr::patch{base, 0}, kr::patch{fine}});
  CHECK(f.components() == 4);
  CHECK(f.traffic().bytes(kr::way::to_host) == 0);
  CHECK(f.traffic().bytes(kr::way::to_device) == 0);
  auto const sent = km::sum(run.environment(), std::int64_t(f.traffic().bytes(kr::way::to_neighbours)));
  CHECK((sent != 0) == (run.environment().size() > 1));
  CHECK_FALSE(f.is_valid<mass>(kr::region::owned, kr::component{0}));
  CHECK(f.is_valid<mass>(kr::region::halo, kr::component{0}));
  CHECK_FALSE(f.is_valid<kr::past<mass, 1>>(kr::region::owned, kr::component{0}));
  CHECK(f.is_valid<mass, keel::simulated>(kr::region::owned, kr::component{1}));
  CHECK_FALSE(f.is_valid<mass>(kr::region::halo, kr::component{1}));
  CHECK(f.is_valid<mass>(kr::region::halo, kr::component{2}));
  CHECK_FALSE(f.is_valid<mass, keel::simulated>(kr::region::owned, kr::component{3}));
  CHECK_FALSE(f.is_valid<age>(kr::region::owned, kr::component{3}));
  CHECK(place(0) == before[2]);
  CHECK(place(2) == before[0]);
  // A routine fills what is new of the fine one, and a step runs on all.
  for (int c : {0, 2})
    CHECK(f.run(compare<mass, kr::owned<mass>>{}, kr::component{c}, scaled(c == 0 ? 3 : 1), false) == 0);
  values const fine_one = moved<mass>(scaled(2), fine, fine, {{8, 2}});
  CHECK(f.run(compare<mass, kr::owned<mass>>{}, kr::component{1}, fine_one, false) == 0);
  for (int c : {0, 1, 2})
    CHECK(f.run(compare<age, kr::owned<age>>{}, kr::component{c}, scaled(c == 0 ? 3 : c == 1 ? 2 : 1), false) == 0);
  f.run(fill<mass>{}, kr::component{3}, 4), f.run(fill<age>{}, kr::component{3}, 4);
  f.step(step{}), f.step(step{});
  CHECK(f.run(compare<mass, kr::inside<mass>>{}, kr::component{3}, scaled(4), true) == 0);
  CHECK(f.run(compare<kr::past<mass, 1>, kr::inside<kr::past<mass, 1>>>{}, kr::component{1}, fine_one, true) == 0);
  // All vanish but one.
  f.regrid({{fine, 3}});
  CHECK(f.run(compare<mass, kr::inside<mass>>{}, scaled(4), true) == 0);
  CHECK(f.run(compare<age, kr::owned<age>>{}, scaled(4), false) == 0);
}

TEST_CASE("residency: patches that do not fit are refused on every rank, and nothing has changed") {
  test::run<km::mpi> run{"simulated"};
  auto const& env = run.environment();
  kr::grid const base{{16, 12}, kr::ghost_width{1}};
  kr::fields<left, mass, corner> f{run, base};
  f.run(fill<mass>{}, 1), f.run(fill<corner>{}, 2);
  auto const refuses = [&](std::vector<kr::patch> const& patches, std::string_view text) {
    std::string const message = message_of([&] { f.regrid(patches); });
    CAPTURE(message);
    CHECK(message.find(text) != std::string::npos);
    CHECK(f.components() == 1);
    CHECK(f.run(compare<mass, kr::owned<mass>>{}, scaled(1), false) == 0);
    CHECK(f.run(compare<corner, kr::owned<corner>>{}, scaled(2), false) == 0);
  };
  refuses({}, "regrid is refused (rank 0: there are no patches (fields have at least one component");
  refuses({{base, 1}}, "patch 0 is from component 1 (there are 1");
  refuses({{base, 0}, {base, -2}}, "patch 1 is from component -2");
  refuses({{base, 0}, {kr::grid{{16}}, 0}}, "patch 1 is of 1 dimension (the grid has 2");
  refuses({{base, 0}, {kr::grid{{16, 12}, kr::blocks{2}}, 0}}, "patch 1 is in blocks");
  refuses({{kr::grid{{1 * env.size(), 1}}, 0}}, "corner has ghosts of a width of 2");
  std::int64_t const huge = std::int64_t(1) << 28;
  refuses({{base, 0}, {kr::grid{{huge, huge}}}}, "regrid is not done (rank 0: ");
  if (env.size() > 1) refuses({{base, env.rank() == 0 ? 0 : -1}}, "the patches differ between ranks");
  kr::fields<left, mass, corner> g{run, kr::grid{{32, 24}, kr::blocks{2}}};
  CHECK(keel::test::refuses([&] { g.regrid({{base, 0}}); }, "the grid is in blocks"));
  CHECK(keel::test::refuses(
      [&] {
        f.step(kr::schedule<test::call<kr::reads<kr::owned<mass>>>>{}, [&] { f.regrid({{kr::grid{{16, 12}}, 0}}); });
      },
      "called inside a step"));
}

// Advection of a bump that a fine patch follows, as by Berger and Colella, without what goes back to the coarse cells.

struct u : kr::variable<"u", double*> {};
struct du : kr::variable<"du", double*> {};
constexpr double courant = 0.5;

/// A bump around cell `middle`, so many times as wide as on the coarse grid.
KEEL_FUNCTION inline double bump(double middle, double wide, std::int64_t cell) {
  double const x = (double(cell) + 0.5 - middle) / (3 * wide);
  return 1 / (1 + x * x * x * x);
}
struct begin : kr::routine<"begin", kr::on_device, kr::writes<u>> {
  template <class V>
  static void run(V v, double const& middle, double const& wide) {
    auto const x = v(u{});
    auto const to_cell = v.global_begin()[0] - v.owned().begin[0];
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { x(i) = bump(middle, wide, i + to_cell); });
  }
};
struct find : kr::routine<"find", kr::on_device, kr::reads<u>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    auto const x = v(u{});
    auto const d = v(du{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { d(i) = courant * (x(i - 1) - x(i)); });
  }
};
struct add : kr::routine<"add", kr::on_device, kr::reads<kr::owned<du>>, kr::updates<u>> {
  template <class V>
  static void run(V v) {
    auto const x = v(u{});
    auto const d = v(du{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { x(i) += d(i); });
  }
};
struct upwind : kr::schedule<kr::exchange<u>, kr::outflow<u>, find, add> {};
/// Four fine cells at each end of the patch, and zeros, which it did not have before, get what component 2 has, the
/// coarse cells below it, which are cut alike.
struct refine : kr::routine<"refine", kr::on_device, kr::updates<u>> {
  template <class V>
  static void run(V v) {
    auto const fine = v(u{}, kr::component{1}), coarse = v(u{}, kr::component{2});
    kr::share const s = v.local(kr::component{1});
    auto const own = s.owned();
    std::int64_t const begin = own.begin[0], first = s.global_begin[0], cells = s.global_extents[0];
    Kokkos::parallel_for(
        "refine", Kokkos::RangePolicy<typename V::space>(v.execution_space(), begin, own.end[0]), KOKKOS_LAMBDA(int i) {
          std::int64_t const k = first + i - begin;
          if (k < 4 || k >= cells - 4 || fine(i) == 0) fine(i) = coarse(1 + (i - begin) / 2);
        });
  }
};
struct worst : kr::routine<"worst", kr::on_host, kr::reads<kr::owned<u>>> {
  template <class V>
  static double run(V v, double const& middle, double const& wide) {
    auto const x = v(u{});
    kr::share const s = v.local();
    double error = 0;
    for (auto i = s.owned().begin[0]; i < s.owned().end[0]; ++i)
      error = std::max(error, std::abs(x(i) - bump(middle, wide, s.global_begin[0] + i - s.owned().begin[0])));
    return error;
  }
};

TEST_CASE("residency: a fine patch follows a bump") {
  test::run<km::mpi> run{"simulated"};
  kr::grid const base{{96}, kr::ghost_width{1}, kr::periodic{true}}, fine{{96}, kr::ghost_width{1}},
      below{{48}, kr::ghost_width{1}};
  kr::fields<right, u, du> f{run, base, kr::further_grids{{fine, below}}};
  double middle = 24, in_patch = 48;
  std::int64_t first = 0; // coarse cell where the patch begins
  f.run(begin{}, kr::component{0}, middle, 1.0), f.run(begin{}, kr::component{1}, in_patch, 2.0);
  for (int n = 0; n < 60; ++n) {
    f.run(upwind{}, kr::component{0}), middle += courant;
    std::int64_t const moves = n % 2; // by a coarse cell every second step
    first += moves;
    f.regrid({{base, 0}, {fine, 1, {2 * moves}}, {below, 0, {first}}});
    f.run(refine{});
    for (int k = 0; k < 2; ++k) f.run(upwind{}, kr::component{1}), in_patch += courant - double(moves);
  }
  double const coarse = km::max(run.environment(), f.run(worst{}, kr::component{0}, middle, 1.0)),
               finer = km::max(run.environment(), f.run(worst{}, kr::component{1}, in_patch, 2.0));
  CAPTURE(coarse);
  CHECK(finer < 0.7 * coarse);
  CHECK(finer > 0.1 * coarse);
}

} // namespace regridding
