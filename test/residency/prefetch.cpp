// SPDX-License-Identifier: MIT
#include <keel/impl/schedule/prefetch.hpp>

#include "cases.hpp"

namespace kr = keel::residency;
using keel::residency::detail::table_of, test::empty;

namespace {

struct x : kr::variable<"x", double*, kr::levels<2>> {};
struct y : kr::variable<"y", double*> {};

struct reads_ghosts : empty<"reads_ghosts", kr::on_device, kr::reads<x>> {};
struct reads_owned : empty<"reads_owned", kr::on_device, kr::reads<kr::owned<x>>, kr::writes<y>> {};
struct reads_past : empty<"reads_past", kr::on_device, kr::reads<kr::past<x, 1>>> {};
struct writes_core : empty<"writes_core", kr::on_device, kr::writes<kr::part<x, kr::core>>> {};
struct writes_x : empty<"writes_x", kr::on_host, kr::writes<x>> {};
struct writes_y : empty<"writes_y", kr::on_host, kr::writes<y>> {};

// The entry before which the exchange is finished; one more than they are, if it is after the last.
template <class... Entries>
constexpr std::size_t landing = [] {
  constexpr auto const& table = table_of<kr::schedule<kr::exchange<x>, Entries...>>;
  if (!table.nodes[1].only_begins) return std::size_t{1};
  std::size_t entry = 1; // children of the schedule, the exchange is the first
  for (std::size_t n = 2; n < table.size; n = table.nodes[n].end, ++entry) {
    if (table.nodes[n].finishes == 1) return entry;
    if (table.nodes[n].overlaps != 1) return std::size_t{0}; // nonsense
    if (table.nodes[n].finishes_last == 1) return entry + 1;
  }
  return std::size_t{0};
}();
static_assert(landing<> == 1);
static_assert(landing<reads_ghosts> == 1);
static_assert(landing<reads_owned, reads_past, reads_ghosts> == 3);
static_assert(landing<reads_owned, writes_core> == 2);
static_assert(landing<reads_owned, kr::cycle<y>> == 2);
static_assert(landing<reads_owned, kr::every<2, reads_owned>> == 2);
static_assert(landing<writes_y, kr::exchange<y>> == 2);

constexpr kr::memory memory_of(kr::place const& where) {
  return where.what == kr::place::kind::at_chosen ? kr::memory{1} : kr::host;
}
// The region of the one copy that can begin when the first entry has run.
template <kr::memory To, class... Entries>
constexpr kr::region begun = [] {
  constexpr auto const& table = table_of<kr::schedule<Entries...>>;
  kr::memory where[64]{};
  for (std::size_t n = 0; n < table.size; ++n) where[n] = memory_of(table.nodes[n].about->where);
  kr::region found = kr::region::none;
  int copies = 0;
  kr::detail::find_prefetches(table.view(), where, 1, To,
                              [&](kr::request const& r, std::uint32_t) { ++copies, found = r.reads; });
  return copies == 1 ? found : kr::region::none;
}();
template <class... Entries>
constexpr kr::region early = begun<kr::memory{1}, Entries...>;
static_assert(early<writes_x, writes_y, reads_owned> == kr::region::owned);
static_assert(early<kr::exchange<x>, writes_y, reads_ghosts> == kr::region::halo);
static_assert(early<writes_x, writes_y, writes_core, reads_owned> == kr::region::rim, "the core is written again");
static_assert(early<writes_x, kr::every<3, writes_core>, reads_owned> == kr::region::rim);
static_assert(early<writes_x, kr::cycle<y>, reads_owned> == kr::region::owned, "y has one level");
static_assert(early<writes_x, writes_y, kr::every<2, reads_owned>> == kr::region::none, "it might not be wanted");

// The same towards the host.
struct updates_core : empty<"updates_core", kr::on_device, kr::updates<kr::part<x, kr::core>>> {};
struct fills_x : empty<"fills_x", kr::on_device, kr::writes<kr::everywhere<x>>> {};
struct tells_x : empty<"tells_x", kr::on_host, kr::reads<kr::owned<x>>> {};
struct tells_ghosts : empty<"tells_ghosts", kr::on_host, kr::reads<x>> {};
template <class... Entries>
constexpr kr::region early_to_host = begun<kr::host, Entries...>;
static_assert(early_to_host<fills_x, writes_y, tells_x> == kr::region::owned);
static_assert(early_to_host<fills_x, reads_owned, writes_y, tells_x, tells_ghosts> == kr::region::everywhere);
static_assert(early_to_host<fills_x, writes_y, kr::exchange<x>> == kr::region::rim, "the exchange is on the host");
static_assert(early_to_host<fills_x, writes_y, updates_core, tells_x> == kr::region::none,
              "what arrives is forgotten with any write");

/// Lets the kernel go; and whether it gave up, after a while, so that a mistake is a failure.
std::atomic<bool> released{false}, gave_up{false};
/// Writes 1 to the first element when the host says so.
struct hold : kr::routine<"hold", kr::on_device, kr::writes<y>> {
  template <class V>
  static void run(V v) {
    auto to = v(y{});
    auto *go = &released, *late = &gave_up;
    Kokkos::parallel_for("hold", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1),
                         [=](int i) { // of a device of the host
                           auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                           while (!go->load() && !late->load()) late->store(std::chrono::steady_clock::now() > end);
                           to(i) = 1;
                         });
  }
};
struct fill : kr::routine<"fill", kr::on_host, kr::writes<kr::everywhere<x>>> {
  template <class V>
  static void run(V v) {
    auto to = v(x{}); // by hand, because Kokkos' own fill waits for all devices
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i) = 3;
  }
};
struct use : kr::routine<"use", kr::on_device, kr::reads<x>, kr::updates<y>> {
  template <class V>
  static void run(V v) {
    auto from = v(x{});
    auto to = v(y{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { to(i) = from(i - 1) + from(i + 1); });
  }
};
double found = 0;
struct tell : kr::routine<"tell", kr::on_host, kr::reads<kr::owned<y>>> {
  template <class V>
  static void run(V v) {
    found = v(y{})(1);
  }
};
// The other way round: what the kernel wrote is told on the host, after something else there.
struct produce : kr::routine<"produce", kr::on_device, kr::writes<kr::everywhere<x>>> {
  template <class V>
  static void run(V v, double const& value) {
    auto to = v(x{});
    double const is = value;
    kr::for_each_cell(v, v.everywhere(), KOKKOS_LAMBDA(int i) { to(i) = is; });
  }
};
struct tell_x : kr::routine<"tell_x", kr::on_host, kr::reads<x>> {
  template <class V>
  static void run(V v) {
    found = v(x{})(0) + v(x{})(4);
  }
};
struct changes : kr::routine<"changes", kr::on_device, kr::updates<kr::everywhere<x>>> {
  template <class V>
  static void run(V v) {
    auto to = v(x{});
    kr::for_each_cell(v, v.everywhere(), KOKKOS_LAMBDA(int i) { to(i) += 1; });
  }
};
struct peek : kr::routine<"peek", kr::on_host> {
  template <class V, class F>
  static void run(V, double const&, F& f) {
    f();
  }
};
struct held_step : kr::schedule<hold, test::call<>, tell> {};
struct told_step : kr::schedule<produce, peek, tell_x> {};

struct early_step : kr::schedule<hold, fill, test::call<>, use, tell> {};
struct no_reader : kr::schedule<fill, test::call<>, kr::every<100, use>> {};

using app = test::application<keel::list<test::host, keel::simulated>>;

} // namespace

TEST_CASE("residency: a copy known to come begins as soon as its source is final, and does not block the host") {
  test::run run{"simulated"};
  kr::fields<app, x, y> f{run, kr::grid{{8}, kr::ghost_width{1}}};
  released = gave_up = false;
  bool begun = false;
  auto const probe = [&] {
    begun = f.is_valid<x, keel::simulated>();
    released = true;
  };
  f.step(early_step{}, probe);
  CHECK(begun);
  CHECK_FALSE(gave_up);
  CHECK(found == 6);
  CHECK(f.traffic().bytes(kr::way::to_device, kr::region::everywhere, f.number<x>) == 10 * 8);
}

TEST_CASE("residency: a copy that might not be wanted is not begun") {
  test::run run{"simulated"};
  kr::fields<app, x, y> f{run, kr::grid{{8}, kr::ghost_width{1}}};
  bool begun = true;
  auto const probe = [&] { begun = f.is_valid<x, keel::simulated>(kr::core); };
  f.step(no_reader{}, probe);
  CHECK_FALSE(begun);
  CHECK(f.traffic().copies() == 0);
}

TEST_CASE("residency: what the host is certain to read begins to come after its writer") {
  test::run run{"simulated"};
  kr::fields<app, x, y> f{run, kr::grid{{8}, kr::ghost_width{1}}};
  for (int n = 0; n < 3; ++n) {
    released = gave_up = false;
    f.reset_traffic();
    std::uint64_t begun = 0;
    bool counts = true;
    auto const probe = [&] {
      begun = f.traffic().bytes(kr::way::to_host);
      counts = f.is_valid<y>(kr::region::owned);
      released = true;
    };
    f.step(held_step{}, probe);
    CHECK(begun == 8 * 8);
    CHECK_FALSE(counts);
    CHECK_FALSE(gave_up);
    CHECK(f.traffic().bytes(kr::way::to_host) == 8 * 8);
  }
}

namespace {

struct stop {};
template <class Tracking>
void check_interrupted() {
  using checked = test::application<keel::list<test::host, keel::simulated>, Tracking>;
  test::run run{"simulated"};
  kr::fields<checked, x, y> f{run, kr::grid{{8}, kr::ghost_width{1}}};
  auto const go_on = [] {};
  auto const halt = [] { throw stop{}; };
  double value = 1;
  f.step(told_step{}, value, go_on);
  CHECK(found == 2);
  for (int n = 0; n < 4; ++n) {
    value += 1;
    CHECK_THROWS_AS(f.step(told_step{}, value, halt), stop);
    switch (n) {
    case 0: f.run(tell_x{}); break; // what arrived is of now
    case 1:                         // and here it is not
      f.run(changes{});
      f.run(tell_x{});
      break;
    case 2: // the whole step again
      value += 1;
      f.step(told_step{}, value, go_on);
      break;
    case 3: // the host writes over what arrives
      f.run(fill{});
      f.run(tell_x{});
      value = 3;
    }
    CHECK(found == (n == 1 ? 2 * (value + 1) : 2 * value));
  }
  auto const meddle = [&] { f.run(changes{}); };
  CHECK_THROWS_AS(f.step(told_step{}, value, meddle), keel::error);
}

} // namespace

TEST_CASE("residency: a step that ends while a copy to the host is in flight leaves nothing old valid") {
  SUBCASE("automatic") { check_interrupted<kr::automatic>(); }
  SUBCASE("checked") { check_interrupted<kr::checked>(); }
}
