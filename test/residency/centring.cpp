// SPDX-License-Identifier: MIT
// Layers of ghosts, and closures: what lies on the owned cells, whoever owns it.
#include <keel/schedule/part.hpp>

#include "model.hpp"

namespace centring_cases {

using namespace test;

struct energy : kr::variable<"energy", double**, kr::ghosts<3>, kr::levels<2>> {};
struct node : kr::variable<"node", double**, kr::at<kr::vertex>, kr::ghosts<1>> {};
template <int N>
struct reach : empty<"reach", kr::on_device, kr::reads<kr::inside<kr::depth<N, energy>>>> {};

// What a stencil of two cells needs twice: once all, then the inner layers.
template <class... Entries>
constexpr bool lacks_last =
    kr::plan<app_right, kr::schedule<Entries...>, keel::simulated>::lacks_exchange(sizeof...(Entries));
using two_layers = kr::exchange<kr::depth<2, energy>>;
struct again : kr::schedule<put<energy>, kr::exchange<energy>, put<kr::depth<1, energy>>, kr::cycle<energy>> {};
static_assert(!lacks_last<put<energy>, two_layers, reach<2>> && !lacks_last<put<energy>, two_layers, reach<1>>);
static_assert(lacks_last<put<energy>, kr::exchange<kr::depth<1, energy>>, reach<2>>);
static_assert(lacks_last<put<energy>, two_layers, see<energy>>);
static_assert(!lacks_last<again, see<kr::past<kr::depth<1, energy>, 1>>>);

TEST_CASE("residency: an exchange fills as many layers of ghosts as it says, and sends no more") {
  for (auto const device : either_device) {
    run<km::mpi> here{device};
    kr::fields<app_left, energy, node> f{here, kr::grid{{24, 26}, kr::ghost_width{1}, kr::periodic{true, false}}};
    CHECK(sends_least<kr::depth<1, node>>(here.environment(), f));
    CHECK(sends_least<energy>(here.environment(), f));
    CHECK(sends_least<kr::depth<1, energy>>(here.environment(), f));
    CHECK(sends_least<kr::depth<2, energy>>(here.environment(), f));
    fill<kr::everywhere<energy>>(f), fill<energy>(f, 2);
    f.run(two_layers{});
    CHECK(wrong_inside<kr::depth<2, energy>>(f, 2) == 0);
    char const* const refused =
        "reads energy, level 0, halo, of which not all is valid (fewer layers of it were filled";
    f.run(reach<1>{}), f.run(reach<2>{});
    CHECK(refuses([&] { f.run(reach<3>{}); }, refused));
    CHECK(refuses([&] { f.run(see<energy>{}); }, refused));
    CHECK(f.is_valid<kr::depth<2, energy>>(kr::region::halo));
    CHECK_FALSE(f.is_valid<energy>(kr::region::halo));
    f.run(put<kr::depth<1, energy>>{}), f.run(reach<1>{});
    CHECK(refuses([&] { f.run(reach<2>{}); }, refused));
    fill<energy>(f, 3);
    f.run(kr::exchange<kr::depth<5, energy>>{}); // more than there are: all
    CHECK(wrong_inside<energy>(f, 3) == 0);
    f.step(kr::schedule<put<energy>, two_layers, reach<2>, reach<1>>{});
  }
}

struct mass : kr::variable<"mass", double**> {};
struct flux : kr::variable<"flux", double**, kr::at<kr::face<0>>> {};
struct circulation : kr::variable<"circulation", float**, kr::at<kr::edge<0>>, kr::levels<2>> {};
struct thin : kr::variable<"thin", double**, kr::at<kr::vertex>, kr::ghosts<0>> {};
struct corner : kr::variable<"corner", double***, kr::at<kr::vertex>> {};
struct height : kr::variable<"height", double*, kr::along<0>, kr::at<kr::face<0>>> {};

/// All elements on the owned cells, each rank those of its own.
template <class X>
struct surround : kr::routine<"surround", kr::on_device, kr::writes<kr::closure<X>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(X{});
    kr::share const s = v.local(X{});
    kr::bounds const all = v.everywhere(kr::closure<X>{});
    auto const value = [=](kr::indices const& at) { return 100 * in_grid(s, at)[0] + in_grid(s, at)[1]; };
    if constexpr (X::about.on.along != 0) kr::for_each_cell(v, all, [=](int i) { x(i) = double(value({{i}})); });
    else
      kr::for_each_cell(
          v, all, [=](int i, int j) { at_place(x, 2, {{i, j}}, [&](auto& e, int, int) { e = value({{i, j}}); }); });
  }
};
template <class X>
struct see_closure : kr::routine<"see_closure", kr::on_host, kr::reads<kr::closure<X>>> {
  template <class V>
  static std::int64_t run(V v) {
    kr::share const s = v.local(X{});
    kr::bounds const all = v.everywhere(kr::closure<X>{}), cells = v.local().owned();
    std::int64_t wrong = 0;
    for_all(all, s.rank, [&](kr::indices const& at) {
      auto const place = in_grid(s, at);
      at_place(v(X{}), s.rank, at, [&](auto const& e, int, int) { wrong += e == 100 * place[0] + place[1] ? 0 : 1; });
    });
    for (int d = 0; d < s.rank; ++d) // one element more than owned cells, whoever owns it
      wrong += all.end[d] - all.begin[d] == cells.end[d] - cells.begin[d] + s.longer[d] ? 0 : 1;
    return wrong;
  }
};
template <class X>
struct shift : kr::routine<"shift", kr::on_host, kr::updates<kr::closure<X>>> {
  template <class V>
  static void run(V v) {
    int const rank = v.local(X{}).rank;
    for_all(v.everywhere(kr::closure<X>{}), rank,
            [&](auto const& at) { at_place(v(X{}), rank, at, [](auto& e, int, int) { e += 1; }); });
  }
};

// It needs no exchange; what is owned is less, and a layer of ghosts is more.
template <class X>
using first_layer = see<kr::depth<1, X>>;
static_assert(!lacks_last<surround<flux>, see_closure<flux>> && !lacks_last<surround<flux>, shift<flux>>);
static_assert(lacks_last<put<flux>, see_closure<flux>> && lacks_last<put<flux>, shift<flux>>);
static_assert(lacks_last<surround<flux>, first_layer<flux>>);
static_assert(!lacks_last<put<flux>, kr::exchange<kr::depth<1, flux>>, see_closure<flux>>);
static_assert(lacks_last<put<flux>, kr::exchange<flux>, surround<flux>, first_layer<flux>>);
static_assert(!lacks_last<put<mass>, see_closure<mass>>); // in cells it is what is owned
static_assert(!lacks_last<surround<thin>, see<thin>>);    // and here all there is

template <class App>
void try_closure(kr::grid const& g, std::string_view device) {
  run<km::mpi> here{device};
  kr::fields<App, mass, corner, flux, circulation, thin, height> f{here, g, kr::extra<corner>{1}};
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
    fill<X>(f); // and its neighbours have written, too
    bool const has_halo = overlap(f.template local<X>().regions, kr::region::halo);
    if (has_halo && kr::closure<X>::is_shared)
      CHECK(refuses([&] { of_blocks(see_closure<X>{}); }, std::string(X::about.name) + ", level 0, "));
  };
  try_one(flux{}), try_one(circulation{}), try_one(thin{}), try_one(mass{}), try_one(corner{}), try_one(height{});
}
std::string warned;

TEST_CASE("residency: a closure is what lies on the owned cells, and needs no exchange") {
  for (auto const& wraps : {kr::periodic{false}, kr::periodic{true}, kr::periodic{true, false}}) {
    kr::ghost_width const two{2, 1};
    try_closure<app_right>(kr::grid{{24, 17}, two, wraps}, "simulated");
    try_closure<app_right>(kr::grid{{25, 17}, two, wraps, kr::blocks{3}}, host::name);
    keel::policy::set_log_sink([](keel::policy::log_level, std::string_view text) { warned += text; });
    try_closure<app_checked>(kr::grid{{24, 17}, two, wraps}, "simulated");
    keel::policy::set_log_sink(nullptr);
    CHECK(warned.empty()); // what it promised to write is no more than it wrote
  }
}

} // namespace centring_cases
