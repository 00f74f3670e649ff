// SPDX-License-Identifier: MIT
// Variables that lie on the grid in their own way: centring, dimensions, ghosts. Their elements are numbered as the
// grid is, so that every copy of one has the same value wherever the grid is cut.
#include <keel/residency/fields.hpp>

#include "routines.hpp"
#include "run.hpp"

#include <keel/machine/reductions.hpp>
#include <keel/machine/mpi.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>
#include <keel/residency/loops.hpp>
#include <keel/schedule/plan.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace centring_cases {

namespace kr = keel::residency;
namespace km = keel::machine;

template <class Exchange>
struct app : test::application<keel::list<test::host, keel::simulated>, kr::automatic, Kokkos::LayoutRight, km::mpi> {
  using exchange = Exchange;
};

struct mass : kr::variable<"mass", double**> {};
struct corner : kr::variable<"corner", double***, kr::at<kr::vertex>> {};
struct flux : kr::variable<"flux", double**, kr::at<kr::face<0>>> {};
struct circulation : kr::variable<"circulation", float**, kr::at<kr::edge<0>>, kr::levels<2>> {};
struct wide : kr::variable<"wide", double**, kr::ghosts<3, 2>> {};
struct thin : kr::variable<"thin", double**, kr::at<kr::vertex>, kr::ghosts<0>> {};
struct length : kr::variable<"length", double*, kr::along<1>> {};
struct height : kr::variable<"height", double*, kr::along<0>, kr::at<kr::face<0>>> {};

template <class App>
using fields = kr::fields<App, mass, corner, flux, circulation, wide, thin, length, height>;

/// Calls f(i, j) for all elements of these bounds; j is 0 in one dimension.
template <class F>
void for_all(kr::bounds const& b, int rank, F const& f) {
  for (auto i = b.begin[0]; i < b.end[0]; ++i)
    for (auto j = rank > 1 ? b.begin[1] : 0; j < (rank > 1 ? b.end[1] : 1); ++j) f(i, j);
}
template <class View>
auto& element(View const& view, std::int64_t i, std::int64_t j) {
  if constexpr (View::rank == 1) return view(i);
  else if constexpr (View::rank == 2) return view(i, j);
  else return view(i, j, 0);
}
bool is_in(kr::bounds const& b, int rank, std::int64_t i, std::int64_t j) {
  return i >= b.begin[0] && i < b.end[0] && (rank == 1 || (j >= b.begin[1] && j < b.end[1]));
}
/// The number of an element, from where it lies in the grid.
double number_of(kr::share const& s, std::int64_t i, std::int64_t j) {
  std::int64_t const at[] = {i, j};
  double number = 1;
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t x = s.global_begin[d] + at[d] - s.owned().begin[d];
    if (s.wraps[std::size_t(d)]) x = (x + 2 * s.global_extents[d]) % s.global_extents[d];
    number = 100 * number + double(x);
  }
  return number;
}

template <class X>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<X>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    for_all(v.everywhere(X{}), s.rank, [&](auto i, auto j) {
      element(x, i, j) =
          std::remove_cvref_t<decltype(element(x, i, j))>(is_in(v.owned(X{}), s.rank, i, j) ? number_of(s, i, j) : -1);
    });
  }
};
template <class X>
struct check : kr::routine<"check", kr::on_host, kr::reads<X>> {
  template <class V>
  static std::int64_t run(V v) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    std::int64_t wrong = 0;
    for_all(v.everywhere(X{}), s.rank, [&](auto i, auto j) {
      bool const is_here = is_in(s.inside(), s.rank, i, j);
      wrong += double(element(x, i, j)) == (is_here ? number_of(s, i, j) : -1) ? 0 : 1;
    });
    return wrong;
  }
};
template <class X>
struct sum : kr::routine<"sum", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static double run(V v) {
    auto const x = v(X{});
    double all = 0;
    for_all(v.owned(X{}), v.local(X{}).rank, [&](auto i, auto j) { all += element(x, i, j); });
    return all;
  }
};

template <class App, class X, class Run>
void try_one(Run& run, fields<App>& f, bool is_whole) {
  CAPTURE(X::about.name);
  auto const of_blocks = [&](auto routine) {
    auto all = f.run(routine, kr::component{0});
    for (int b = 1; b < f.components(); ++b) all += f.run(routine, kr::component{b});
    return all;
  };
  f.run(fill<X>{});
  f.run(kr::exchange<X>{});
  CHECK(of_blocks(check<X>{}) == 0);
  double inside = 0;
  for (int b = 0; b < f.components(); ++b) {
    kr::share const& s = f.template local<X>(kr::component{b});
    inside += double(s.inside().size(s.rank));
  }
  f.run(test::call<kr::writes<kr::everywhere<X>>>{}, [](auto v) { Kokkos::deep_copy(v(X{}), 1); });
  double const owned = km::sum(run.environment(), of_blocks(sum<X>{}));
  f.run(kr::accumulate<X>{});
  CHECK(km::sum(run.environment(), of_blocks(sum<X>{})) == km::sum(run.environment(), inside));
  if (!is_whole) return;
  kr::share const s = f.template local<X>();
  double elements = 1; // each is owned once
  for (int d = 0; d < s.rank; ++d) elements *= double(s.global_extents[d]);
  CHECK(owned == elements);
}

template <class Exchange>
void try_all(kr::grid const& g, std::string_view device) {
  test::run<km::mpi> run{device};
  using a = app<Exchange>;
  fields<a> f{run, g, kr::extra<corner>{3}};
  try_one<a, mass>(run, f, true), try_one<a, corner>(run, f, true), try_one<a, flux>(run, f, true);
  try_one<a, circulation>(run, f, true), try_one<a, wide>(run, f, true), try_one<a, thin>(run, f, true);
  try_one<a, length>(run, f, false), try_one<a, height>(run, f, false);
}

TEST_CASE("residency: elements on vertices, faces and edges, along a dimension, with ghosts of their own") {
  kr::ghost_width const two{2, 1};
  for (auto const& wraps : {kr::periodic{false}, kr::periodic{true}, kr::periodic{true, false}}) {
    try_all<kr::on_host>(kr::grid{{24, 17}, two, wraps}, test::host::name);
    try_all<kr::on_device>(kr::grid{{25, 16}, two, wraps}, "simulated");
    try_all<kr::on_device>(kr::grid{{25, 17}, two, wraps, kr::blocks{3}}, "simulated");
  }
}

TEST_CASE("residency: what a rank has of the vertices of a grid") {
  kr::grid const g{{10, 4}, kr::ghost_width{2}, kr::ranks_in{2, 1}};
  kr::share const low = share_of(share_of(g, 2, 0), corner::about.on, "corner"),
                  high = share_of(share_of(g, 2, 1), corner::about.on, "corner");
  CHECK(low.extents == kr::indices{{10, 9}});
  CHECK(low.owned() == kr::bounds{{{2, 2}}, {{8, 7}}}); // the layer that both share is the lower rank's
  CHECK(high.owned() == kr::bounds{{{3, 2}}, {{8, 7}}});
  CHECK(high.global_begin == kr::indices{{6, 0}});
  CHECK(low.core().end[0] == 5); // three layers are ghosts of the upper rank
  CHECK(high.core().begin[0] == 5);
  CHECK(high.inside().begin[0] == 0);
}

TEST_CASE("residency: a variable that the grid cannot carry") {
  test::run<km::mpi> run{test::host::name};
  auto const message = [&](kr::grid const& g) {
    return keel::test::message_of([&] { kr::fields<app<kr::on_host>, wide> f{run, g}; });
  };
  CHECK(message(kr::grid{{40, 1}}).find("variable wide has ghosts of a width of 2 in dimension 1") !=
        std::string::npos);
  CHECK(keel::test::refuses([&] { kr::fields<app<kr::on_host>, length> f{run, kr::grid{{40}}}; },
                            "variable length lies along dimension 1"));
}

struct energy : kr::variable<"energy", double**, kr::ghosts<3>, kr::levels<2>> {};
template <int N>
struct reach : test::empty<"reach", kr::on_device, kr::reads<kr::depth<N, energy>>> {};
struct look : kr::routine<"look", kr::on_host, kr::reads<kr::depth<2, energy>>> {
  /// Ghosts of the halo that have the value of their owner, by layer.
  template <class V>
  static void run(V v, std::int64_t* wrong) {
    auto const x = v(energy{});
    kr::share const s = v.local(energy{});
    for (int n = 1; n <= 3; ++n)
      for_all(s.within(n), 2, [&](auto i, auto j) {
        if (is_in(s.inside(), 2, i, j)) wrong[n - 1] += x(i, j) == number_of(s, i, j) ? 0 : 1;
      });
  }
};
struct outer : kr::routine<"outer", kr::on_host, kr::writes<kr::depth<1, energy>>> {
  template <class V>
  static void run(V v) {
    kr::share const s = v.local(energy{});
    for_all(v.everywhere(kr::depth<1, energy>{}), 2,
            [&](auto i, auto j) { v(energy{})(i, j) = is_in(s.inside(), 2, i, j) ? number_of(s, i, j) : -1; });
  }
};

// What a stencil of two cells needs twice: once all, then the inner layers.
struct deep : kr::schedule<fill<energy>, kr::exchange<kr::depth<2, energy>>, reach<2>, reach<1>> {};
struct shallow : kr::schedule<fill<energy>, kr::exchange<kr::depth<1, energy>>, reach<2>> {};
struct whole : kr::schedule<fill<energy>, kr::exchange<kr::depth<2, energy>>, check<energy>> {};
struct past : kr::routine<"past", kr::on_host, kr::reads<kr::past<kr::depth<1, energy>, 1>>> {};
struct again : kr::schedule<fill<energy>, kr::exchange<energy>, outer, kr::cycle<energy>, past> {};
static_assert(!kr::plan<app<kr::on_host>, deep, keel::simulated>::lacks_exchange(3));
static_assert(kr::plan<app<kr::on_host>, shallow, keel::simulated>::lacks_exchange(3));
static_assert(kr::plan<app<kr::on_host>, whole, keel::simulated>::lacks_exchange(3));
static_assert(!kr::plan<app<kr::on_host>, again, keel::simulated>::lacks_exchange(5));

TEST_CASE("residency: an exchange fills as many layers of ghosts as it says, and sends no more") {
  kr::grid const g{{24, 26}, kr::ghost_width{1}, kr::periodic{true, false}};
  for (auto const device : {std::string_view(test::host::name), std::string_view("simulated")}) {
    test::run<km::mpi> run{device};
    kr::fields<app<kr::on_device>, energy> f{run, g};
    kr::share const s = f.local<energy>();
    kr::bounds const own = s.owned(), inside = s.inside();
    auto const sends_least = [&](auto exchange, int layers) {
      f.run(fill<energy>{});
      f.reset_traffic();
      f.run(exchange);
      std::int64_t ghosts = 0; // that come from other ranks
      for_all(s.within(layers), 2, [&](auto i, auto j) {
        bool const is_beyond[] = {i < own.begin[0] || i >= own.end[0], j < own.begin[1] || j >= own.end[1]};
        bool const comes = (is_beyond[0] && s.processes[0] > 1) || (is_beyond[1] && s.processes[1] > 1);
        ghosts += comes && is_in(inside, 2, i, j) ? 1 : 0;
      });
      auto const sent = std::int64_t(f.traffic().bytes(kr::way::to_neighbours));
      return km::sum(run.environment(), sent) == km::sum(run.environment(), 8 * ghosts);
    };
    CHECK(sends_least(kr::exchange<energy>{}, 3));
    CHECK(sends_least(kr::exchange<kr::depth<1, energy>>{}, 1));
    CHECK(sends_least(kr::exchange<kr::depth<2, energy>>{}, 2));
    std::int64_t wrong[3]{};
    f.run(look{}, &wrong[0]);
    CHECK(wrong[0] == 0);
    CHECK(wrong[1] == 0);
    CHECK(wrong[2] > 0);
    auto const message = [&](auto routine) { return keel::test::message_of([&] { f.run(routine); }); };
    char const* const refused =
        "reads energy, level 0, halo, of which not all is valid (fewer layers of it were filled";
    f.run(reach<1>{}), f.run(reach<2>{});
    CHECK(message(reach<3>{}).find(refused) != std::string::npos);
    CHECK(message(check<energy>{}).find(refused) != std::string::npos);
    CHECK(f.is_valid<kr::depth<2, energy>>(kr::region::halo));
    CHECK_FALSE(f.is_valid<energy>(kr::region::halo));
    f.run(outer{}), f.run(reach<1>{});
    CHECK(message(reach<2>{}).find(refused) != std::string::npos);
    f.run(kr::exchange<kr::depth<5, energy>>{}); // more than there are: all
    CHECK(f.run(check<energy>{}) == 0);
    f.step(deep{});
  }
}

struct stretch : kr::routine<"stretch", kr::on_device, kr::reads<height>, kr::updates<mass>> {
  template <class V>
  static void run(V v) {
    auto const x = v(height{});
    auto const m = v(mass{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { m(i, j) *= x(i + 1) - x(i); });
  }
};
using stretches = kr::schedule<stretch>;
static_assert(kr::plan<app<kr::on_host>, stretches, keel::simulated>::copies(kr::host, kr::device) == 0);

TEST_CASE("residency: what is written once, on the host, and only read on a device is copied there once") {
  test::run<km::mpi> run{"simulated"};
  kr::fields<app<kr::on_host>, mass, height> f{run, kr::grid{{24, 6}}};
  f.run(fill<height>{}), f.run(fill<mass>{});
  f.reset_traffic();
  for (int n = 0; n < 5; ++n) f.step(stretches{});
  std::uint64_t once = 0;
  for (std::uint64_t const bytes : f.bytes<height>()) once += bytes;
  CHECK(f.traffic().bytes(kr::way::to_device, kr::region::everywhere, f.number<height>) == once);
  CHECK(f.traffic().variables()[0].copies == f.traffic().variables()[1].copies);
  CHECK(f.is_valid<height>());
}

/// All elements on the owned cells, each rank those of its own.
template <class X>
struct surround : kr::routine<"surround", kr::on_device, kr::writes<kr::closure<X>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    kr::bounds const all = v.everywhere(kr::closure<X>{});
    if constexpr (X::about.on.along != 0) kr::for_each_cell(v, all, [=](int i) { x(i) = number_of(s, i, 0); });
    else kr::for_each_cell(v, all, [=](int i, int j) { element(x, i, j) = number_of(s, i, j); });
  }
};
template <class X>
struct see_closure : kr::routine<"see_closure", kr::on_host, kr::reads<kr::closure<X>>> {
  template <class V>
  static std::int64_t run(V v) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    kr::bounds const all = v.everywhere(kr::closure<X>{}), cells = v.local().owned();
    std::int64_t wrong = 0;
    for_all(all, s.rank, [&](auto i, auto j) { wrong += element(x, i, j) == number_of(s, i, j) ? 0 : 1; });
    for (int d = 0; d < s.rank; ++d) // one element more than owned cells, whoever owns it
      wrong += all.end[d] - all.begin[d] == cells.end[d] - cells.begin[d] + s.longer[d] ? 0 : 1;
    return wrong;
  }
};
template <class X>
struct shift : kr::routine<"shift", kr::on_host, kr::updates<kr::closure<X>>> {
  template <class V>
  static void run(V v) {
    for_all(v.everywhere(kr::closure<X>{}), v.local(X{}).rank, [&](auto i, auto j) { element(v(X{}), i, j) += 1; });
  }
};
template <class X>
struct own_only : kr::routine<"own_only", kr::on_host, kr::writes<X>> {
  template <class V>
  static void run(V v) {
    for_all(v.owned(X{}), v.local(X{}).rank, [&](auto i, auto j) { element(v(X{}), i, j) = 0; });
  }
};
template <class X, int N>
struct layers_of : test::empty<"layers_of", kr::on_device, kr::reads<kr::depth<N, X>>> {};

// It needs no exchange; what is owned is less, and a layer of ghosts is more.
template <class... Entries>
constexpr bool lacks_last =
    kr::plan<app<kr::on_host>, kr::schedule<Entries...>, keel::simulated>::lacks_exchange(sizeof...(Entries));
static_assert(!lacks_last<surround<flux>, see_closure<flux>> && !lacks_last<surround<flux>, shift<flux>>);
static_assert(lacks_last<own_only<flux>, see_closure<flux>> && lacks_last<own_only<flux>, shift<flux>>);
static_assert(lacks_last<surround<flux>, layers_of<flux, 1>>);
static_assert(!lacks_last<own_only<flux>, kr::exchange<kr::depth<1, flux>>, see_closure<flux>>);
static_assert(lacks_last<own_only<flux>, kr::exchange<flux>, surround<flux>, layers_of<flux, 1>>);
static_assert(!lacks_last<own_only<mass>, see_closure<mass>>); // in cells it is what is owned
static_assert(!lacks_last<surround<thin>, test::empty<"all", kr::on_host, kr::reads<thin>>>); // and here all there is

template <class App>
void try_closure(kr::grid const& g, std::string_view device) {
  test::run<km::mpi> run{device};
  fields<App> f{run, g, kr::extra<corner>{1}};
  auto const of_blocks = [&](auto routine) {
    std::int64_t all = 0;
    for (int b = 0; b < f.components(); ++b) all += f.run(routine, kr::component{b});
    return all;
  };
  auto const try_one = [&]<class X>(X) {
    CAPTURE(X::about.name);
    f.run(surround<X>{});
    CHECK(of_blocks(see_closure<X>{}) == 0);
    f.run(shift<X>{});
    CHECK(of_blocks(see_closure<X>{}) > 0);
    f.run(own_only<X>{}); // and its neighbours have written, too
    bool const has_halo = overlap(f.template local<X>().regions, kr::region::halo);
    if (has_halo && kr::closure<X>::is_shared)
      CHECK(keel::test::refuses([&] { of_blocks(see_closure<X>{}); }, std::string(X::about.name) + ", level 0, "));
  };
  try_one(flux{}), try_one(circulation{}), try_one(thin{}), try_one(mass{}), try_one(corner{}), try_one(height{});
}
std::string warned;
template <class App>
struct checked_app : App {
  using tracking = kr::checked;
};

TEST_CASE("residency: a closure is what lies on the owned cells, and needs no exchange") {
  for (auto const& wraps : {kr::periodic{false}, kr::periodic{true}, kr::periodic{true, false}}) {
    kr::ghost_width const two{2, 1};
    try_closure<app<kr::on_host>>(kr::grid{{24, 17}, two, wraps}, "simulated");
    try_closure<app<kr::on_host>>(kr::grid{{25, 17}, two, wraps, kr::blocks{3}}, test::host::name);
    keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { warned += text; });
    try_closure<checked_app<app<kr::on_host>>>(kr::grid{{24, 17}, two, wraps}, "simulated");
    keel::policy::set_log_sink(nullptr);
    CHECK(warned.empty()); // what it promised to write is no more than it wrote
  }
}

} // namespace centring_cases
