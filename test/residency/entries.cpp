// SPDX-License-Identifier: MIT
#include <keel/schedule/schedule.hpp>

#include "cases.hpp"

#include "compiled.hpp"

#include <regex>

namespace entries_cases {

using namespace test;

// What an adaptive time step needs: entries of the first step, and levels that go back where a step is refused.

struct x : kr::variable<"x", double*, kr::levels<3>, kr::without_ghosts> {};
struct rate : kr::variable<"rate", double*, kr::without_ghosts> {};

struct init : kr::routine<"init", kr::on_host, kr::writes<x, rate>> {
  template <class V>
  static void run(V v, int& inits) {
    ++inits;
    Kokkos::deep_copy(v(x{}), 1.0);
    Kokkos::deep_copy(v(rate{}), 2.0);
  }
};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::past<x, 1>, rate>, kr::writes<x>> {
  template <class V>
  static void run(V v, int&) {
    auto const old = v(kr::past<x, 1>{}), by = v(rate{});
    auto const to = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = old(i) * by(i); });
  }
};
template <int Level = 0>
struct show : kr::routine<"show", kr::on_host, kr::reads<kr::past<x, Level>>> {
  template <class V>
  static double run(V v) {
    return v(kr::past<x, Level>{})(2);
  }
};
struct refused {
  static bool holds(int&, bool is) { return is; }
};
struct step : kr::schedule<kr::once<init>, kr::cycle<x>, advance, kr::when<refused, kr::rewind<x>>> {};

template <class Tracking>
struct both : application<keel::list<host, twin>, Tracking> {};

TEST_CASE("residency: once runs in the first step alone, also if all that it needs is valid before") {
  for (bool const is_restarted : {true, false}) {
    test::run run{"twin"};
    kr::fields<both<kr::automatic>, x, rate> f{run, kr::grid{{5}}};
    int inits = 0;
    f.run(init{}, inits);
    if (is_restarted) f.set_steps(41);
    for (int n = 0; n < 2; ++n) f.step(step{}, inits, false);
    CHECK(inits == (is_restarted ? 1 : 2));
    CHECK(f.run(show<>{}) == 4);
  }
}

TEST_CASE("residency: under checked, a read of what a rewind freed says why") {
  test::run run{"twin"};
  kr::fields<both<kr::checked>, x, rate> f{run, kr::grid{{5}}};
  int inits = 0;
  for (int n = 0; n < 3; ++n) f.step(step{}, inits, n == 2);
  std::string const text = message_of([&] { f.run(show<2>{}); });
  CHECK_MESSAGE(text.find("the levels went back in step 3") != text.npos, text);
}

TEST_CASE("residency: explain names the entries of the first step and those that go back") {
  std::ostringstream out;
  kr::explain<both<kr::automatic>, step, twin>(out);
  std::string const text = std::regex_replace(out.str(), std::regex(" +"), " ");
  for (char const* words : {"once", " init", "rewind", "x levels moves"})
    CHECK_MESSAGE(text.find(words) != text.npos, words << " is not in:\n" << text);
}

namespace apart = test::compiled;
struct is_large {
  using reads = kr::reads<apart::hottest>;
  static bool holds(double value) { return value > 4; }
};
struct apart_step : kr::schedule<apart::warm, apart::hottest, kr::when<is_large, apart::scale>> {};

template <class App>
void check_compiled(std::string_view device) {
  test::run run{device};
  kr::fields<App, apart::heat> f{run, kr::grid{{5}}};
  f.step(apart_step{}, 0.5);
  CHECK(f.value(apart::hottest{}) == 2);
  CHECK(f.run(apart::show{}, false) == 0.5);
  f.step(apart_step{}, 2.0);
  CHECK(f.run(apart::show{}, false) == 0.25);
  f.run(apart::warm{}, 3.0);
  CHECK(f.run(apart::show{}, false) == 3);
}

TEST_CASE("residency: routines compiled in another source run on each device, and under each tracking") {
  for (char const* device : {"twin", host::name.data()}) check_compiled<apart::checked>(device);
  check_compiled<apart::off>(host::name);
}

TEST_CASE("residency: a routine compiled in another source is checked as others are") {
  test::run run{"twin"};
  kr::fields<apart::checked, apart::heat> f{run, kr::grid{{5}}};
  f.run(apart::warm{}, 1.0);
  CHECK(refuses([&] { f.run(apart::show{}, true); }, "routine show reaches element (5) of heat"));
}

} // namespace entries_cases
