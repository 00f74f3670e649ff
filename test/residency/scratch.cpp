// SPDX-License-Identifier: MIT
// Variables for intermediate values: what they hold, which of them share memory, and that nothing of them is left, on
// any number of ranks.
#include <keel/layout/variable.hpp>

#include "cases.hpp"

namespace scratch_cases {

using namespace test;

template <class Tracking, class Device, class Exchange>
struct with : application<keel::list<host, Device>, Tracking, Kokkos::LayoutRight, km::mpi> {
  using exchange = Exchange;
};
using app = with<kr::automatic, keel::simulated, kr::on_device>;

struct u : kr::variable<"u", double*> {};
struct flux : kr::scratch<"flux", double*, kr::at<kr::face<0>>> {};
struct change : kr::scratch<"change", double*> {};

void const* data_of_flux = nullptr;
void const* data_of_change = nullptr;

struct begin : kr::routine<"begin", kr::on_host, kr::writes<u>> {
  template <class V>
  static void run(V v) {
    auto const now = v(u{});
    kr::bounds const b = v.owned();
    for (auto i = b.begin[0]; i < b.end[0]; ++i) {
      auto const x = v.global_begin()[0] + i - b.begin[0];
      now(i) = double(x * x % 17);
    }
  }
};
struct find_flux : kr::routine<"find_flux", kr::on_device, kr::reads<u>, kr::writes<kr::everywhere<flux>>> {
  template <class V>
  static void run(V v) {
    auto const now = v(u{});
    auto const f = v(flux{});
    data_of_flux = f.data();
    auto const cells = int(now.extent(0));
    kr::for_each_cell(
        v, v.everywhere(flux{}), KOKKOS_LAMBDA(int i) { f(i) = i > 0 && i < cells ? now(i - 1) - now(i) : 0; });
  }
};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::inside<flux>>, kr::updates<u>> {
  template <class V>
  static void run(V v) {
    auto const now = v(u{});
    auto const f = v(flux{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { now(i) += f(i) - f(i + 1); });
  }
};
struct find_change : kr::routine<"find_change", kr::on_device, kr::reads<kr::owned<u>>, kr::writes<change>> {
  template <class V>
  static void run(V v) {
    auto const now = v(u{});
    auto const c = v(change{});
    data_of_change = c.data();
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { c(i) = 2 * now(i); });
  }
};
template <class Read>
struct use : kr::routine<"use_change", kr::on_device, kr::reads<Read>, kr::updates<u>> {
  template <class V>
  static void run(V v) {
    auto const now = v(u{});
    auto const c = v(change{});
    constexpr int right = std::is_same_v<Read, change> ? 1 : 0;
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { now(i) -= c(i + right); });
  }
};
using use_change = use<kr::owned<change>>;
using use_right = use<change>;
struct is_first {
  static int holds(bool first) { return first ? 0 : 1; }
};

using by_flux = kr::schedule<kr::exchange<u>, find_flux, advance>;
using by_change = kr::schedule<find_change, use_change>;
using by_right = kr::schedule<find_change, kr::exchange<change>, use_right>;
template <class Last>
struct step
    : kr::schedule<by_flux, kr::repeat<3, by_change>, kr::choose<is_first, by_flux, kr::schedule<>, by_change>, Last> {
};
struct both : kr::schedule<kr::exchange<u>, find_flux, find_change, advance, use_change> {};

constexpr int cells = 23;
/// What is expected, all of it on one rank.
struct expected {
  std::vector<double> all = std::vector<double>(cells);
  expected() {
    for (int x = 0; x < cells; ++x) all[std::size_t(x)] = x * x % 17;
  }
  [[nodiscard]] double at(std::vector<double> const& of, int x) const { return of[std::size_t((x + cells) % cells)]; }
  void flux() {
    auto const old = all;
    for (int x = 0; x < cells; ++x) all[std::size_t(x)] += at(old, x - 1) - 2 * at(old, x) + at(old, x + 1);
  }
  void change(int right) {
    auto const old = all;
    for (int x = 0; x < cells; ++x) all[std::size_t(x)] -= 2 * at(old, x + right);
  }
};

template <class App, class... Last>
void check_values(std::string_view device) {
  test::run<km::mpi> run{device};
  kr::fields<App, u, change, flux> f{run, kr::grid{{cells}, kr::ghost_width{1}, kr::periodic{true}}};
  expected e;
  auto const check = [&] {
    auto const s = f.local();
    std::vector<double> const mine(e.all.begin() + s.global_begin[0],
                                   e.all.begin() + s.global_begin[0] + s.owned().size(1));
    CHECK(f.run(call<kr::reads<kr::owned<u>>>{}, [](auto v) {
      std::vector<double> all;
      for (auto i = v.owned().begin[0]; i < v.owned().end[0]; ++i) all.push_back(v(u{})(i));
      return all;
    }) == mine);
  };
  f.run(begin{});
  f.reset_traffic();
  for (bool const first : {true, false, true}) {
    f.step(step<kr::schedule<Last...>>{}, first);
    e.flux();
    for (int k = 0; k < 3; ++k) e.change(0);
    if (first) e.flux();
    if (sizeof...(Last) != 0) e.change(1);
    check();
    CHECK(data_of_flux == data_of_change);
  }
  std::size_t const shared = f.scratch_bytes();
  CHECK(shared > 0);
  f.step(both{});
  auto const old = e.all;
  e.flux();
  for (int x = 0; x < cells; ++x) e.all[std::size_t(x)] -= 2 * e.at(old, x);
  check();
  CHECK(data_of_flux != data_of_change);
  CHECK(f.scratch_bytes() > shared);
  int const scratches[] = {f.template number<flux>, f.template number<change>}; // nvcc loses a list in a loop
  for (int v : scratches)
    for (kr::way w : {kr::way::to_host, kr::way::to_device})
      CHECK(f.traffic().bytes(w, kr::region::everywhere, v) == 0);
}

struct off : application<keel::list<host>, kr::off, Kokkos::LayoutRight, km::mpi> {};

TEST_CASE("residency: a scratch holds what a step wrote, and shares memory if lives do not meet") {
  SUBCASE("simulated") { check_values<app, by_right>("simulated"); }
  SUBCASE("on the host") { check_values<app, by_right>(host::name); }
  SUBCASE("checked") { check_values<with<kr::checked, keel::simulated, kr::on_host>>("simulated"); }
  SUBCASE("without poison") { check_values<with<kr::automatic, twin, kr::on_device>, by_right>("twin"); }
  SUBCASE("off") { check_values<off, by_right>(host::name); }
}

struct a : kr::scratch<"a", double*> {};
struct b : kr::scratch<"b", double**> {};
struct c : kr::scratch<"c", float*, kr::off_grid> {};
template <class... Xs>
struct w : kr::routine<"w", kr::on_device, kr::writes<Xs...>> {
  template <class V>
  static void run(V v) {
    (Kokkos::deep_copy(v.execution_space(), v(Xs{}), 7), ...);
  }
};
template <class... Xs>
struct r : empty<"r", kr::on_device, kr::reads<kr::owned<Xs>...>> {};
struct more : kr::routine<"more", kr::on_device, kr::updates<a>> {};
template <class X>
struct sometimes : kr::when<is_first, X> {};

/// Names of those that share memory, in lines as explain has them.
template <class... Entries>
std::string blocks() {
  std::ostringstream out;
  kr::explain<app, kr::schedule<Entries...>>(out);
  std::string text = out.str(), found;
  for (std::string_view const words : {"share memory: ", "memory of its own: "})
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1))
      found += '|' + text.substr(at + words.size(), text.find('\n', at) - at - words.size());
  return found;
}
/// The node of a mistake, and whether it is another memory.
template <class... Entries>
constexpr int mistake(bool moves) {
  constexpr kr::detail::scratch_mistake found =
      kr::detail::mistake_in_scratch<app, kr::schedule<Entries...>, kr::memory(1)>;
  return found.node == kr::detail::no_node ? -1 : found.moves == moves ? int(found.node) : -2;
}
struct host_r : kr::routine<"host_r", kr::on_host, kr::reads<kr::owned<a>>> {};

// Written before it is read, on each way, in the same memory.
static_assert(mistake<w<a>, r<a>, more, r<a>>(false) == -1);
static_assert(mistake<r<a>, w<a>>(false) == 1 && mistake<more>(false) == 1);
static_assert(mistake<kr::repeat<2, kr::when<is_first, r<a>>, w<a>>>(false) == 3);
static_assert(mistake<sometimes<w<a>>, r<a>>(false) == 3 && mistake<kr::every<2, w<a>>, r<a>>(false) == 3);
static_assert(mistake<w<a>, sometimes<w<a>>, sometimes<r<a>>>(false) == -1);
static_assert(mistake<kr::choose<is_first, w<a>, w<b>>, r<a>>(false) == 4);
static_assert(mistake<kr::choose<is_first, w<a>, kr::schedule<w<b>, w<a>>>, r<a>>(false) == -1);
static_assert(mistake<w<a>, host_r>(true) == 2 && mistake<w<a>, r<a>, sometimes<host_r>>(true) == 4);
static_assert(mistake<w<a>, kr::schedule<kr::repeat<2, r<a>, w<a>>>>(true) == -1);
static_assert(mistake<w<a>, kr::exchange<a>, r<a>>(true) == -1); // on the device, as the policy says

TEST_CASE("residency: scratches that are in use at the same time do not share memory") {
  using kr::choose, kr::repeat, kr::schedule, kr::exchange;
  CHECK(blocks<w<a>, r<a>, w<b>, r<b>, w<c>, r<c>>() == "|a, b, c");
  CHECK(blocks<w<a>, w<b>, r<a>, r<b>>() == "|a|b");
  CHECK(blocks<w<a>, w<b>, r<a>, w<c>, r<c, b>>() == "|a, c|b");
  CHECK(blocks<w<a>, r<a>, w<b>, r<b>, w<a>, r<a>>() == "|a, b"); // two lives
  CHECK(blocks<w<kr::walls<a>>, w<b>, w<a>, r<a>>() == "|a, b");
  CHECK(blocks<w<kr::walls<a>>, w<b>, w<a>, kr::routine<"all", kr::on_device, kr::reads<kr::walls<a>>>>() == "|a|b");
  CHECK(blocks<repeat<2, w<a>, r<a>, w<b>, r<b>>>() == "|a, b");
  CHECK(blocks<repeat<2, w<b>, r<b>>, w<a>, repeat<2, repeat<2, w<c>>, r<a>>, w<b>>() == "|b, a|c");
  CHECK(blocks<choose<is_first, schedule<w<a>, r<a>>, schedule<w<b>, r<b>>>>() == "|a, b");
  CHECK(blocks<choose<is_first, w<a>, schedule<w<b>, r<b>, w<a>>>, w<c>, r<a>>() == "|b, c|a");
  CHECK(blocks<w<a>, exchange<a>, w<b>, r<b>>() == "|a|b"); // messages arrive after r
}

struct counted {
  static inline std::int64_t wrong = 0;
};
/// Looks that nothing is left of others in what it writes and in what it does not.
struct look : kr::routine<"look", kr::on_device, kr::writes<kr::part<b, kr::region::rim>>> {
  template <class V>
  static void run(V v) {
    auto const x = v(b{});
    std::int64_t left = 0;
    using range = Kokkos::MDRangePolicy<typename V::space, Kokkos::Rank<2>>;
    Kokkos::parallel_reduce(
        range(v.execution_space(), {0, 0}, {std::int64_t(x.extent(0)), std::int64_t(x.extent(1))}),
        KOKKOS_LAMBDA(int i, int j, std::int64_t& sum) { sum += x(i, j) == x(i, j) ? 1 : 0; }, left);
    counted::wrong += left;
  }
};
struct within : kr::routine<"within", kr::on_device, kr::writes<a>> {
  template <class V, class Fields>
  static bool run(V v, Fields& f) {
    Kokkos::deep_copy(v.execution_space(), v(a{}), 1);
    CHECK(f.template is_valid<a, keel::simulated>(kr::region::owned));
    f.run(typename Fields::nested{});
    return true;
  }
};
struct all_fields : kr::fields<app, u, a, b, c> {
  using nested = kr::schedule<>;
  using fields::fields;
};
struct nesting_fields : kr::fields<app, u, a, b> {
  using nested = w<b>;
  using fields::fields;
};

TEST_CASE("residency: nothing is left in the memory of a scratch when another one gets it, nor after a step") {
  test::run<km::mpi> run{"simulated"};
  all_fields f{run, kr::grid{{cells}, kr::ghost_width{1}}, kr::extra<b>{3}, kr::extra<c>{50}, kr::components{2}};
  using full = kr::schedule<w<kr::everywhere<a>>, r<a>, w<c>, r<c>, look>;
  counted::wrong = 0;
  for (int n = 0; n < 2; ++n) f.step(full{});
  CHECK(counted::wrong == 0);
  CHECK(!f.is_valid<a, keel::simulated>(kr::region::owned));
  CHECK(!f.is_valid<b, keel::simulated>(kr::region::rim));
  CHECK(f.run(within{}, f));
  CHECK(!f.is_valid<a, keel::simulated>(kr::region::owned));
  CHECK(f.traffic().bytes(kr::way::to_host) + f.traffic().bytes(kr::way::to_device) == 0);

  nesting_fields g{run, kr::grid{{cells}}, kr::extra<b>{3}};
  CHECK(
      message_of([&] { g.run(within{}, g); }) ==
      "keel::residency: a routine that runs in an entry with scratch runs another entry with scratch (they could have "
      "the same memory). Run it before or after.");
  g.run(w<b>{});
}

} // namespace scratch_cases
