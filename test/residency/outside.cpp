// SPDX-License-Identifier: MIT
// What a program does beside the routines of its fields, and what it may not: raw views, threads, nested calls.
#include <keel/residency/fields.hpp>

#include "cases.hpp"

namespace outside_cases {

using namespace test;

using app = application<keel::list<host, twin>>;
using single = application<keel::list<host>>;
using trusting = application<keel::list<host>, kr::off>;
using checked = application<keel::list<host, keel::simulated>, kr::checked>;

struct x : kr::variable<"x", double*> {};
struct y : kr::variable<"y", double*> {};
struct z : kr::variable<"z", double**, kr::levels<2>> {};
struct sent : kr::variable<"sent", double*, kr::off_grid> {};

template <class X>
struct set : kr::routine<"set", kr::on_host, kr::writes<kr::everywhere<X>>> {
  template <class V>
  static void run(V v, double value) {
    auto to = v(X{});
    for (std::size_t i = 0; i < to.span(); ++i) to.data()[i] = value;
  }
};
struct take : kr::routine<"take", kr::on_device, kr::reads<x>, kr::writes<y>> {
  template <class V>
  static void run(V v) {
    auto const from = v(x{});
    auto const to = v(y{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = from(i); });
  }
};
template <class X>
struct first : kr::routine<"first", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static double run(V v) {
    return v(X{}).data()[0];
  }
};
struct between : kr::variable<"between", double*, kr::levels<9>> {};
template <class X>
struct nothing : empty<"nothing", kr::on_device, kr::updates<X>> {};

TEST_CASE("residency: a view that is kept declares nothing, wherever it lies") {
  test::run run{"twin"};
  kr::fields<app, z> f{run, kr::grid{{4, 1}, kr::ghost_width{1}}, kr::components{2}};
  kr::view_of<app, z, host> const now = f.view<host>(z{}), past = f.view<host>(kr::past<z, 1>{}),
                                  second = f.view<host>(z{}, kr::component{1});
  kr::view_of<app, z, twin> const there = f.view<twin>(z{});
  CHECK((now.data() != past.data() && now.data() != second.data() && there.data() != now.data()));
  CHECK(refuses([&] { f.run(first<z>{}, kr::component{1}); }, "z, level 0, core, component 1, valid nowhere"));
  CHECK_FALSE(f.is_valid<z>(kr::region::owned));
  now(0, 0) = 7;
  f.notify_data_modified(now);
  CHECK(f.is_valid<z>(kr::region::owned));
  CHECK_FALSE(f.is_valid<z>(kr::region::walls));
  CHECK_FALSE(f.is_valid<z>(kr::region::owned, kr::component{1}));
  CHECK_FALSE(f.is_valid<kr::past<z, 1>>(kr::region::owned));
  CHECK(f.run(first<z>{}, kr::component{0}) == 7);
  f.require_valid_data(there);
  CHECK(f.is_valid<z, twin>(kr::region::owned));
  f.run(kr::cycle<z>{}); // the view shows what is the past now
  CHECK(f.view<host>(kr::past<z, 1>{}).data() == now.data());
  CHECK(refuses([&] { (void)f.view<host>(z{}, kr::component{2}); }, "component 2"));
  f.step(kr::schedule<call<kr::writes<z>>>{}, [&](auto) { CHECK(refuses([&] { (void)f.view<host>(z{}); }, "view")); });
}

TEST_CASE("residency: a routine that runs for one component has no other") {
  test::run run{"twin"};
  kr::fields<app, x> f{run, kr::grid{{4}}, kr::components{2}};
  f.run(set<x>{}, 1.0);
  struct other : kr::routine<"other", kr::on_host, kr::reads<x>> {
    static double run(kr::context<app, other, host> v) { return v(x{}, kr::component{0})(0); }
  };
  CHECK(f.run(other{}) == 1);
  CHECK(refuses([&] { (void)f.run(other{}, kr::component{1}); },
                "routine other wants component 0 (it runs for component 1 only"));
  CHECK(f.run(other{}, kr::component{0}) == 1);
  CHECK(refuses([&] { f.run(set<x>{}, kr::component{2}, 1.0); }, "there are 2"));
  CHECK(refuses([&] { kr::fields<app, x>{run, kr::grid{{4}}, kr::components{0}}; }, "components{0} are refused"));
}

TEST_CASE("residency: fields say where they run, and without tracking not what is valid") {
  for (char const* device : {"twin", host::name.data()}) {
    test::run run{device};
    kr::fields<app, x> const f{run, kr::grid{{4}}};
    CHECK(f.device_name() == device);
    CHECK_FALSE(f.is_valid<x>(kr::core));
  }
  test::run run{host::name};
  kr::fields<trusting, x> const f{run, kr::grid{{4}}};
  CHECK(refuses([&] { (void)f.is_valid<x>(kr::core); }, "is_valid cannot be answered (tracking is off)"));
}

TEST_CASE("residency: each of two variables that stand far apart is brought where it is read") {
  test::run run{"twin"};
  kr::fields<app, x, between, y> f{run, kr::grid{{4}}};
  f.run(set<x>{}, 2.0);
  f.run(take{}); // on the device
  CHECK(f.run(call<kr::reads<kr::owned<x>, kr::owned<y>>>{},
              [](auto v) { return v(x{}).data()[0] + v(y{}).data()[0]; }) == 4);
}

TEST_CASE("residency: with one memory a routine in a step is refused in every step, without tracking in none") {
  test::run run{host::name};
  auto const refusals = [&]<class App>(App) {
    kr::fields<App, x, y> f{run, kr::grid{{4}}};
    f.run(set<x>{}, 1.0);
    auto const again = [&] { f.run(nothing<x>{}); };
    auto const step = [&] { f.step(kr::schedule<nothing<x>>{}); };
    int refused = 0;
    for (int n = 0; n < 3; ++n) {
      refused += message_of([&] { f.step(kr::schedule<nothing<x>, call<>>{}, again); }).empty() ? 0 : 1;
      CHECK(refuses([&] { f.step(kr::schedule<nothing<x>, call<>>{}, step); }, "called inside a step"));
    }
    return refused;
  };
  CHECK(refusals(single{}) == 3);
  CHECK(refusals(trusting{}) == 0);
  CHECK(refusals(application<keel::list<host>, kr::checked>{}) == 3);
}

TEST_CASE("residency: checked tracking finds a second thread in the same fields") {
  test::run run{"simulated"};
  kr::fields<checked, x> f{run, kr::grid{{4}}};
  f.run(set<x>{}, 1.0);
  std::string text;
  auto const meanwhile = [&] { std::thread([&] { text = message_of([&] { f.run(nothing<x>{}); }); }).join(); };
  f.run(call<>{}, meanwhile);
  CHECK(text.find("keel::residency::checked: nothing is called while another thread is in the same fields") == 0);
  f.run(nothing<x>{});
}

TEST_CASE("residency: what an exchange fills in an analysis is copied to the host at its end") {
  struct on_device : app {
    using exchange [[maybe_unused]] = kr::on_device;
  };
  test::run run{"twin"};
  kr::fields<on_device, z> f{run, kr::grid{{6, 5}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(set<z>{}, 2.0);
  f.run(nothing<z>{});
  f.step(kr::schedule<kr::analysis<kr::exchange<z>>>{});
  CHECK(f.is_valid<z, twin>(kr::region::halo));
  CHECK(f.is_valid<z>(kr::region::halo));
  CHECK_FALSE(f.is_valid<z>(kr::core)); // no entry of the analysis wrote it
  f.run(set<kr::past<z, 1>>{}, 2.0), f.run(nothing<kr::past<z, 1>>{});
  f.run(kr::analysis<kr::exchange<kr::past<z, 1>>>{});
  CHECK(f.is_valid<kr::past<z, 1>>(kr::region::halo));
}

TEST_CASE("residency: once runs in the first step alone, and not after a restart") {
  test::run run{"twin"};
  for (int const before : {0, 41}) {
    kr::fields<app, x> f{run, kr::grid{{4}}};
    f.set_steps(before);
    int runs = 0;
    auto const count = [&] { ++runs; };
    for (int n = 0; n < 2; ++n) f.step(kr::schedule<kr::once<call<>>>{}, count);
    CHECK(runs == (before == 0 ? 1 : 0));
  }
}

TEST_CASE("residency: an array may have no elements") {
  test::run run{"twin"};
  kr::fields<app, x, sent> f{run, kr::grid{{4}}, kr::extra<sent>{0}};
  f.run(set<sent>{}, 1.0);
  f.run(nothing<sent>{});
  kr::view_of<app, sent, host> const empty("empty", 0);
  f.require_valid_data(empty);
  f.notify_data_modified(empty);
  CHECK(f.traffic().copies() == 0);
  f.run(set<x>{}, 1.0);
  f.run(nothing<x>{});
  CHECK(f.traffic().copies() == 1);
}

// Calls what it is given, inside a step.
using meddle = call<kr::updates<x>>;

TEST_CASE("residency: a routine cannot call for entries that the running schedule does not contain") {
  test::run run{"twin"};
  kr::fields<app, x, y, between> f{run, kr::grid{{4}}};
  f.run(set<x>{}, 1.0);
  auto const nothing = [](auto const&) {};
  f.step(kr::schedule<meddle>{}, nothing);
  auto const said = [&](auto&& what) {
    auto const all = [&](auto v) { what(v(x{})); };
    std::string const words = message_of([&] { f.step(kr::schedule<meddle>{}, all); });
    f.run(set<x>{}, 1.0); // what a failed routine leaves is lost
    return words;
  };
  CHECK(said([&](auto const&) {
          f.run(take{});
        }).find("keel::residency: take was called inside a step (the running schedule") == 0);
  CHECK(said([&](auto const&) { f.run(kr::exchange<x>{}); }).find("exchange was called") != std::string::npos);
  CHECK(said([&](auto const&) { f.step(kr::schedule<take>{}); }).find("step() was called") != std::string::npos);
  CHECK(said([&](auto const&) { f.copy_from_past<between>(); }).find("copy_from_past was called") != std::string::npos);
  CHECK(said([&](auto const& view) { f.require_valid_data(view); }).find("require_valid_data was called") !=
        std::string::npos);
  CHECK(said([&](auto const& view) { f.notify_data_modified(view); }).find("notify_data_modified was called") !=
        std::string::npos);
  CHECK(said(nothing).empty());
  f.run(take{});
  CHECK(f.run(first<y>{}) == 1);
}

} // namespace outside_cases
