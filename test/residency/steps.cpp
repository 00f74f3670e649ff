// SPDX-License-Identifier: MIT
// Steps: what routines, output, analysis and conditions see of each other, and calls from within.
#include "cases.hpp"
#include "held.hpp"

#include <keel/machine/alone.hpp>

namespace steps_cases {

using namespace test;

using app = application<keel::list<host, twin>>;

struct x : kr::variable<"x", double*> {};
struct y : kr::variable<"y", double*> {};

using test::gave_up, test::released;
struct hold : kr::routine<"hold", kr::on_device, kr::writes<y>>, test::waits_for_host<y> {};
struct put : kr::routine<"put", kr::on_host, kr::writes<x>> {
  template <class V>
  static void run(V v, double value) {
    auto to = v(x{}); // by hand, because Kokkos' own fill waits for all devices
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i) = value;
  }
};
struct take : kr::routine<"take", kr::on_device, kr::reads<x>, kr::writes<y>>, test::copies<x, y> {};
struct look : kr::routine<"look", kr::on_host, kr::reads<y>> {
  template <class V>
  static double run(V v) {
    return v(y{})(1);
  }
};

// A model whose copies come from an exchange, an output, an analysis, and early.
struct z : kr::variable<"z", double*, kr::levels<2>> {};
double shown = 0, copied = 0;
struct grow : kr::routine<"grow", kr::on_device, kr::reads<kr::past<z, 1>, kr::owned<x>>, kr::writes<z>> {
  template <class V>
  static void run(V v) {
    auto from = v(kr::past<z, 1>{});
    auto with = v(x{});
    auto to = v(z{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = from(i - 1) + from(i + 1) + with(i); });
  }
};
struct start : kr::routine<"start", kr::on_host, kr::writes<kr::everywhere<z>, kr::everywhere<x>, kr::everywhere<y>>> {
  template <class V>
  static void run(V v) {
    for (std::size_t i = 0; i < v(z{}).extent(0); ++i) v(z{})(i) = double(i), v(x{})(i) = 1, v(y{})(i) = 0;
  }
};
struct scale : kr::routine<"scale", kr::on_host, kr::updates<x>> {
  template <class V>
  static void run(V v, int) {
    v(x{})(2) += 0.5;
  }
};
struct odd {
  static bool holds(int n) { return n % 2 != 0; }
};
struct double_z : kr::routine<"double_z", kr::on_host, kr::updates<z>> {
  template <class V>
  static void run(V v) {
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i) v(z{})(i) *= 2;
  }
};
struct sum_up : kr::routine<"sum_up", kr::on_device, kr::reads<kr::owned<z>>, kr::updates<kr::owned<y>>> {
  template <class V>
  static void run(V v) {
    auto from = v(z{});
    auto to = v(y{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) += from(i); });
  }
};
struct save : kr::output<"save"> {
  template <class V>
  static void run(V v) {
    for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i) shown = 0.5 * shown + v(z{})(i) + 2 * v(y{})(i);
  }
};
struct model : kr::schedule<kr::cycle<z>, scale, grow, kr::when<odd, double_z>, kr::repeat<2, sum_up>, kr::exchange<z>,
                            save, kr::analysis<sum_up>, kr::every<3, save>> {};

template <class App, class Step>
double modelled(std::string_view device, Step&& step) {
  test::run run{device};
  kr::fields<App, x, y, z> f{run, kr::grid{{9}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(start{});
  shown = 0;
  for (int n = 1; n <= 12; ++n) step(f, n);
  copied = double(f.traffic().bytes(kr::way::to_host) + f.traffic().bytes(kr::way::to_device));
  return shown;
}

// Calls what it is given, inside a step.
using meddle = call<kr::updates<x>>;

TEST_CASE("residency: a step shows output, analysis and conditions what they see on the host") {
  auto const by_plan = [](auto& f, int n) { f.step(model{}, n); };
  auto const tracked = [](auto& f, int n) { f.set_steps(n), f.run(model{}, n); };
  double const on_host = modelled<application<keel::list<host>>>(host::name, by_plan);
  CHECK(on_host != 0);
  CHECK(modelled<app>("twin", tracked) == on_host);
  double const bytes = copied;
  CHECK(modelled<app>("twin", by_plan) == on_host);
  CHECK(copied == bytes);
  CHECK(modelled<app>(host::name, by_plan) == on_host);
  CHECK(copied == 0);
  using poisoned = application<keel::list<host, keel::simulated>>;
  CHECK(modelled<poisoned>("simulated", by_plan) == on_host);
  CHECK(copied == bytes);
}

TEST_CASE("residency: a routine cannot call for entries that the running schedule does not contain") {
  test::run run{"twin"};
  kr::fields<app, x, y, z> f{run, kr::grid{{4}}};
  f.run(put{}, 1.0);
  auto const nothing = [](auto const&) {};
  f.step(kr::schedule<meddle>{}, nothing);
  auto const said = [&](auto&& what) {
    auto const all = [&](auto v) { what(v(x{})); };
    std::string const words = message_of([&] { f.step(kr::schedule<meddle>{}, all); });
    f.run(put{}, 1.0); // what a failed routine leaves is lost
    return words;
  };
  CHECK(said([&](auto const&) {
          f.run(take{});
        }).find("keel::residency: take was called inside a step (the running schedule") == 0);
  CHECK(said([&](auto const&) { f.run(kr::exchange<x>{}); }).find("exchange was called") != std::string::npos);
  CHECK(said([&](auto const&) { f.step(kr::schedule<take>{}); }).find("step() was called") != std::string::npos);
  CHECK(said([&](auto const&) { f.copy_from_past<z>(); }).find("copy_from_past was called") != std::string::npos);
  CHECK(said([&](auto const& view) { f.require_valid_data(view); }).find("require_valid_data was called") !=
        std::string::npos);
  CHECK(said([&](auto const& view) { f.notify_data_modified(view); }).find("notify_data_modified was called") !=
        std::string::npos);
  CHECK(said(nothing).empty());
  f.run(take{});
  CHECK(f.run(look{}) == 1);
}

TEST_CASE("residency: a step overtakes no copy that left before it") {
  test::run run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{4}}};
  released = gave_up = false;
  f.run(put{}, 1.0);
  f.run(hold{});
  f.run(take{}); // the copy waits for the kernel
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    released = true;
  });
  f.step(kr::schedule<put>{}, 2.0);
  later.join();
  CHECK_FALSE(gave_up);
  CHECK(f.run(look{}) == 1);
}

} // namespace steps_cases
