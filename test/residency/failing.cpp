// SPDX-License-Identifier: MIT
/// @file
/// Routines that throw, on the host and on a device, wherever in a step: what the fields then call valid is what was
/// written last.
#include <keel/residency/fields.hpp>

#include "cases.hpp"

namespace failing_cases {

using namespace test;

template <class Tracking, class Device>
using app = application<keel::list<host, Device>, Tracking>;

struct a : kr::variable<"a", double*, kr::levels<2>> {};
struct b : kr::variable<"b", double*> {};
struct c : kr::variable<"c", double*> {};

// The routines of a step count: number `fails_at` of it throws, when it has half written.
int called = 0, fails_at = -1;
bool throws_now() { return called++ == fails_at; }

/// Fills `X` with a multiple of the time, and another part of it.
template <class X, class Place, int Times, int Halves, class... Clauses>
struct half : kr::routine<"half", Place, Clauses...> {
  template <class V>
  static void run(V v, double t) {
    auto const all = v(X{});
    auto const first = Kokkos::subview(all, std::pair(std::size_t{0}, all.extent(0) / 2));
    double const value = Times * t + 0.5 * Halves;
    bool const throws = throws_now();
    if (throws) Kokkos::deep_copy(v.execution_space(), first, value);
    else Kokkos::deep_copy(v.execution_space(), all, value);
    if (throws) throw std::runtime_error("stumbled");
  }
};
template <class X>
using all_of = kr::updates<kr::everywhere<X>>;
using on_card_a = half<a, kr::on_device, 1, 0, kr::reads<kr::past<a, 1>>, kr::writes<kr::everywhere<a>>>;
using on_host_b = half<b, kr::on_host, 10, 0, kr::reads<a>, all_of<b>>;
using on_card_c = half<c, kr::on_device, 100, 0, kr::reads<b, a>, all_of<c>>;
using on_host_a = half<a, kr::on_host, 1, 1, kr::reads<c>, all_of<a>>;
struct step : kr::schedule<kr::cycle<a>, on_card_a, on_host_b, on_card_c, on_host_a> {};

struct begin
    : kr::routine<"begin", kr::on_device, kr::writes<kr::everywhere<a>, kr::everywhere<b>, kr::everywhere<c>>> {
  template <class V>
  static void run(V v) {
    Kokkos::deep_copy(v.execution_space(), v(a{}), 0.5);
    Kokkos::deep_copy(v.execution_space(), v(b{}), 0.0);
    Kokkos::deep_copy(v.execution_space(), v(c{}), 0.0);
  }
};
// All elements where they are one number; else something that is none.
template <class X>
struct read : kr::routine<"read", kr::on_host, kr::reads<X>> {
  template <class V>
  static void run(V v, double& found) {
    auto const all = v(X{});
    found = all(0);
    for (std::size_t i = 1; i < all.extent(0); ++i)
      if (all(i) != found) found = -1;
  }
};

// What is valid anywhere is `expected`; `lost` is valid nowhere, and to read it is an error with names.
template <class X, class Device, class F>
void check_value(F& f, double expected, bool lost) {
  bool const is_somewhere = f.template is_valid<X>() || f.template is_valid<X, Device>();
  CHECK(is_somewhere != lost);
  double found = -2;
  if (!lost) {
    f.run(read<X>{}, found);
    CHECK(found == expected);
    return;
  }
  std::string const text = message_of([&] { f.run(read<X>{}, found); });
  CHECK_MESSAGE(
      text.find("keel::residency: routine read reads " + std::string(kr::detail::item<X>::variable::about.name)) == 0,
      text);
}

template <class Tracking, class Device>
void fail_everywhere() {
  for (int at = 0; at < 4; ++at) {
    CAPTURE(at);
    test::run<> run{Device::name};
    kr::fields<app<Tracking, Device>, a, b, c> f{run, kr::grid{{6}, kr::ghost_width{1}}};
    f.run(begin{});
    fails_at = -1;
    f.step(step{}, 1.0);
    f.step(step{}, 2.0);
    called = 0, fails_at = at;
    CHECK_THROWS_WITH_AS(f.step(step{}, 3.0), "stumbled", std::runtime_error);
    fails_at = -1;
    check_value<kr::past<a, 1>, Device>(f, 2.5, false);
    check_value<b, Device>(f, at == 0 ? 20 : 30, at == 1);
    check_value<c, Device>(f, at <= 1 ? 200 : 300, at == 2);
    check_value<a, Device>(f, 3, at == 0 || at == 3);
    // And on, once what was lost is there again.
    f.run(begin{});
    f.step(step{}, 4.0);
    check_value<a, Device>(f, 4.5, false);
    check_value<c, Device>(f, 400, false);
  }
}

TEST_CASE("residency: wherever in a step a routine throws, what is valid is what was written last") {
  fail_everywhere<kr::automatic, keel::simulated>();
  fail_everywhere<kr::checked, keel::simulated>();
  fail_everywhere<kr::automatic, twin>();
}

} // namespace failing_cases
