// SPDX-License-Identifier: MIT
// Routines whose bodies stand in another source, compiled.cpp.
#include <keel/schedule/schedule.hpp>

#include "cases.hpp"

#include "compiled.hpp"

namespace entries_cases {

using namespace test;

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
