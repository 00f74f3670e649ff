// SPDX-License-Identifier: MIT
// Steps that go by their plan, where nothing is tested and nothing is marked that the plan knows.
#include "held.hpp"
#include "run.hpp"

#include <keel/machine/alone.hpp>
#include <keel/residency/fields.hpp>

#include <doctest/doctest.h>
#include <support/message_of.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>

namespace kr = keel::residency;

namespace {

using app = test::application<keel::list<test::host, test::twin>>;

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
double found = 0;
struct look : kr::routine<"look", kr::on_host, kr::reads<y>> {
  template <class V>
  static void run(V v) {
    found = v(y{})(1);
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
    auto const own = v.owned();
    Kokkos::parallel_for(
        "grow", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { to(i) = from(i - 1) + from(i + 1) + with(i); });
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
    auto const own = v.owned();
    Kokkos::parallel_for(
        "sum_up", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { to(i) += from(i); });
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
double modelled(std::string_view device, std::int64_t least, Step&& step) {
  test::run run{device};
  kr::fields<App, x, y, z> f{run, kr::grid{{9}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(start{});
  shown = 0;
  for (int n = 1; n <= 12; ++n) step(f, n);
  CHECK(f.planned_steps() >= least);
  copied = double(f.traffic().bytes(kr::way::to_host) + f.traffic().bytes(kr::way::to_device));
  return shown;
}

// Does what it is told, in the midst of a step.
struct meddle : kr::routine<"meddle", kr::on_host, kr::updates<x>> {
  template <class V, class F>
  static void run(V v, F& f) {
    f(v(x{}));
  }
};

struct send : kr::routine<"send", kr::on<test::twin>, kr::writes<x>> {};
struct receive : kr::routine<"receive", kr::on<keel::simulated>, kr::reads<kr::owned<x>>> {};

struct call : kr::routine<"call", kr::on_host> {
  template <class V, class F>
  static void run(V, F& f) {
    f();
  }
};

} // namespace

TEST_CASE("residency: a planned step shows output, analysis and conditions what a tracked one does") {
  auto const by_plan = [](auto& f, int n) { f.step(model{}, n); };
  auto const tracked = [](auto& f, int n) { f.set_steps(n), f.run(model{}, n); };
  double const on_host = modelled<test::application<keel::list<test::host>>>(test::host::name, 12, by_plan);
  CHECK(on_host != 0);
  CHECK(modelled<app>("twin", 0, tracked) == on_host);
  double const bytes = copied;
  CHECK(modelled<app>("twin", 10, by_plan) == on_host);
  CHECK(copied == bytes);
  CHECK(modelled<app>(test::host::name, 12, by_plan) == on_host);
  CHECK(copied == 0);
  using poisoned = test::application<keel::list<test::host, keel::simulated>>;
  CHECK(modelled<poisoned>("simulated", 10, by_plan) == on_host);
  CHECK(copied == bytes);
}

TEST_CASE("residency: a routine cannot change behind the back of a planned step what its plan relies on") {
  test::run run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{4}}};
  f.run(put{}, 1.0);
  auto const nothing = [](auto const&) {};
  f.step(kr::schedule<meddle>{}, nothing);
  auto const said = [&](auto&& what) {
    auto const all = [&](auto const& view) { what(view); };
    std::string const words = keel::test::message_of([&] { f.step(kr::schedule<meddle>{}, all); });
    f.run(put{}, 1.0); // what a failed routine leaves is lost
    return words;
  };
  std::int64_t const before = f.planned_steps();
  CHECK(said([&](auto const&) {
          f.run(take{});
        }).find("keel::residency: take is called for in the midst of a step (the step goes by a plan") == 0);
  CHECK(said([&](auto const&) { f.run(kr::exchange<x>{}); }).find("exchange is called for") != std::string::npos);
  CHECK(said([&](auto const&) { f.step(kr::schedule<take>{}); }).find("a step is called for") != std::string::npos);
  CHECK(said([&](auto const& view) { f.require_valid_data(view); }).find("require_valid_data is called for") !=
        std::string::npos);
  CHECK(said([&](auto const& view) { f.notify_data_modified(view); }).find("notify_data_modified is called for") !=
        std::string::npos);
  CHECK(f.planned_steps() == before + 5);
  CHECK(said(nothing).empty());
  f.run(take{});
  f.run(look{});
  CHECK(found == 1);
}

TEST_CASE("residency: where a planned step ends at a refused call, what was written before is recorded") {
  test::run run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{4}}};
  f.run(put{}, 1.0);
  f.run(take{});
  f.run(look{}); // now both have y
  auto const again = [&] { f.run(take{}); };
  CHECK_FALSE(keel::test::message_of([&] { f.step(kr::schedule<take, call>{}, again); }).empty());
  CHECK(f.planned_steps() == 1);
  CHECK(f.is_valid<y, test::twin>(kr::region::owned));
  CHECK_FALSE(f.is_valid<y>(kr::region::owned));
}

TEST_CASE("residency: a planned step overtakes no copy that left before it, though its writes are not tested") {
  static_assert(!kr::detail::analysis<app, kr::schedule<put>, test::twin>::known.leaves_host[0]);
  static_assert(kr::detail::analysis<app, kr::schedule<put, take>, test::twin>::known.leaves_host[0]);
  static_assert(!kr::detail::analysis<app, kr::schedule<put, take>, test::host>::known.leaves_host[0]);
  test::run run{"twin"};
  kr::fields<app, x, y> f{run, kr::grid{{4}}};
  released = gave_up = false;
  f.run(put{}, 1.0);
  f.run(hold{});
  f.run(take{}); // the copy waits behind the kernel
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    released = true;
  });
  f.step(kr::schedule<put>{}, 2.0);
  later.join();
  CHECK(f.planned_steps() == 1);
  CHECK_FALSE(gave_up);
  f.run(look{});
  CHECK(found == 1);
}

// No device of this build has a memory beside those of the host and of the simulated device, so the places are given.
TEST_CASE("residency: what one device wrote is recorded before a routine on another asks for it") {
  static constexpr auto const& table = kr::detail::table_of<kr::schedule<send, receive>>;
  static constexpr kr::memory where[] = {kr::host, kr::memory(1), kr::memory(2)}; // the schedule, and its two routines
  using table_type = std::remove_cvref_t<decltype(table)>;
  static constexpr auto recorded = [] {
    constexpr std::size_t cells = table.cells();
    constexpr auto steady = kr::detail::steady_search<table_type, cells>(table, where).find();
    auto const known = kr::detail::known_valid_analysis<table_type, cells>(table, where, steady.may_be_stale).find();
    kr::detail::flush_table<table_type::max_nodes, table.changes()> made;
    auto const add = [&](kr::detail::position when, kr::detail::pending_update const& one) { made.add(when, one); };
    kr::detail::pending_analysis(table, where, known, add).find_flushed();
    return made.at(kr::detail::before(2));
  }();
  static_assert(recorded.last - recorded.first == 1);
}
