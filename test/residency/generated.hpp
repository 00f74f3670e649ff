// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What generated schedules are made of, and what must hold for each: the plan's constants, a step by the plan,
/// a tracked step and the oracle count the same copies, and both steps show each routine the same book, also where one
/// of them throws.

#include "run.hpp"

#include <keel/layout/partition.hpp>
#include <keel/machine/alone.hpp>
#include <keel/residency/fields.hpp>
#include <keel/schedule/plan.hpp>

#include <support/oracle.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test::generated {

namespace kr = keel::residency;

// One device, so that each schedule is compiled once; the host is Kokkos' own. It does not poison, so that nobody looks
// at the book between routines.
using app = test::application<keel::list<test::twin>>;

struct a : kr::variable<"a", double**> {};
struct b : kr::variable<"b", double**, kr::levels<2>> {};
struct c : kr::variable<"c", double**, kr::levels<3>> {};
struct d : kr::variable<"d", double*, kr::off_grid> {};
struct nodes : kr::mesh<"nodes"> {};
struct e : kr::variable<"e", float*, kr::levels<2>, kr::on_mesh<nodes>> {};
constexpr int variables = 5, levels_of[variables] = {1, 2, 3, 1, 2};
using fields = kr::fields<app, a, b, c, d, e>;

/// What each routine does: it calls whoever came along with the step.
struct calls {
  template <class V>
  static void run(V) {}
  template <class V, class F>
  static void run(V, std::uint64_t&, F& f) {
    f();
  }
};
/// What a routine does, as the routine of a reduction.
struct measures {
  template <class V, class... Args>
  static double run(V v, Args&... args)
    requires(sizeof...(Args) != 1)
  {
    calls::run(v, args...);
    return 0;
  }
};
struct init : kr::routine<"init", kr::on_host,
                          kr::writes<kr::everywhere<a>, kr::everywhere<b>, kr::everywhere<kr::past<b, 1>>,
                                     kr::everywhere<c>, kr::everywhere<kr::past<c, 1>>, kr::everywhere<kr::past<c, 2>>,
                                     d, kr::everywhere<e>, kr::everywhere<kr::past<e, 1>>>>,
              calls {};
/// Holds every other time, or chooses one of two, by a chain of numbers (Knuth's).
struct chance {
  static bool holds(std::uint64_t& state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 40 & 1) != 0;
  }
};

/// Copies by way (to the host, to the device) and region.
using counts = std::array<std::array<std::int64_t, kr::region_count>, 2>;

inline counts operator-(counts x, counts const& y) {
  for (std::size_t w = 0; w < 2; ++w)
    for (std::size_t r = 0; r < kr::region_count; ++r) x[w][r] -= y[w][r];
  return x;
}

inline counts counted(fields const& f) {
  std::array<kr::region_bytes, variables> const units{f.bytes<a>(), f.bytes<b>(), f.bytes<c>(), f.bytes<d>(),
                                                      f.bytes<e>()};
  counts n{};
  for (kr::region one : kr::single_regions)
    for (std::size_t v = 0; v < units.size(); ++v)
      if (std::size_t const r = std::size_t(index_of(one)); units[v][r] != 0)
        for (kr::way w : {kr::way::to_host, kr::way::to_device})
          n[std::size_t(w)][r] += std::int64_t(f.traffic().bytes(w, one, int(v)) / units[v][r]);
  return n;
}

/// A schedule, followed by the oracle from the data of its tree.
class follower {
public:
  follower()
      : program_({{1, {1, 1, 1, 1}}, {2, {1, 1, 1, 1}}, {3, {1, 1, 1, 1}}, {1, {1, 0, 0, 0}}, {2, {1, 1, 1, 0}}}) {
    std::vector<oracle::access> all;
    for (int v = 0; v < variables; ++v)
      for (int l = 0; l < levels_of[v]; ++l) all.push_back({v, l, 0, oracle::everywhere});
    program_.run(0, all);
  }
  bool can = true; ///< false once a read found nothing

  void step(kr::entry const& e, std::int64_t number, std::uint64_t& state) {
    if (e.what == kr::entry_kind::every && number % e.count != 0) return;
    if (e.what == kr::entry_kind::when && !chance::holds(state)) return;
    if (e.what == kr::entry_kind::once && number > 1) return;
    if (e.what == kr::entry_kind::choose) return step(*e.children[chance::holds(state) ? 1 : 0], number, state);
    if (e.what == kr::entry_kind::cycle)
      for (kr::declaration const& x : e.declared()) program_.cycle(number_of(x));
    else if (e.what == kr::entry_kind::rewind)
      for (kr::declaration const& x : e.declared()) program_.rewind(number_of(x));
    else if (e.declaration_count != 0) run(e);
    for (int n = 0; n < (e.what == kr::entry_kind::repeat ? e.count : 1); ++n)
      for (std::size_t i = 0; i < e.child_count; ++i) step(*e.children[i], number, state);
  }
  [[nodiscard]] counts counted() const {
    oracle::bill const bill = program_.make_bill();
    counts n{};
    for (std::size_t v = 0; v < variables; ++v)
      for (std::size_t r = 0; r < kr::region_count; ++r)
        n[0][r] += std::int64_t(bill.to_host[v][r]), n[1][r] += std::int64_t(bill.to_device[v][r]);
    return n;
  }

private:
  static int number_of(kr::declaration const& x) { return x.variable->name[0] - 'a'; }
  void run(kr::entry const& e) {
    std::vector<oracle::access> list;
    for (kr::declaration const& x : e.declared())
      list.push_back({number_of(x), x.level, unsigned(x.reads), unsigned(x.writes)});
    can = can && program_.can(list);
    program_.run(e.where.what == kr::place::kind::at_chosen ? 1 : 0, list);
  }

  oracle::program program_;
};

/// All that a book says, a bit for each region of each level in each memory; d has only a core, e no walls.
template <class X>
constexpr bool is_on_grid = !std::is_same_v<typename kr::detail::item<X>::variable, e>;
inline std::uint64_t book_of(fields const& f) {
  std::uint64_t all = 0;
  auto const add = [&]<class X>(X) {
    for (kr::region one : kr::single_regions)
      if (one == kr::core || (!std::is_same_v<X, d> && (one != kr::region::walls || is_on_grid<X>)))
        all = all << 2 | std::uint64_t(f.is_valid<X>(one)) << 1 | std::uint64_t(f.is_valid<X, test::twin>(one));
  };
  add(a{}), add(b{}), add(kr::past<b, 1>{}), add(c{}), add(kr::past<c, 1>{}), add(kr::past<c, 2>{}), add(d{}), add(e{}),
      add(kr::past<e, 1>{});
  return all;
}

struct burnt : std::exception {}; // none of keel's

/// What `steps` routines saw and left, the one that follows `fuse` others throws; empty where none did.
template <class F>
std::vector<std::uint64_t> seen_until(int fuse, fields const& f, F&& step) {
  std::vector<std::uint64_t> books;
  auto look = [&] {
    books.push_back(book_of(f));
    if (fuse-- == 0) throw burnt{};
  };
  try {
    step(look);
    if (fuse >= 0) return {};
  } catch (burnt const&) {
  }
  books.push_back(book_of(f));
  return books;
}

/// How many of the schedules that may be wrong do not compile.
inline int refused_while_compiling = 0;

/// What the compiler does not refuse throws in the step in which the oracle finds nothing to read, and in no other.
template <class S>
void is_sound() {
  if constexpr (kr::detail::lost_read<S>.request != kr::detail::no_request) ++refused_while_compiling;
  else {
    auto const stops_with = []<class App>(App, std::string_view device) {
      test::run run{device};
      kr::grid const g{{5, 4}, kr::ghost_width{1}, kr::periodic{true, false}};
      std::vector<std::int64_t> const nodes_here{7, 5, 3, 1, -2}, copied{3, 7};
      kr::partition<nodes> const m{run.environment(), nodes_here, copied};
      kr::fields<App, a, b, c, d, e> f{run, g, m, kr::extra<d>{3}};
      follower brute;
      f.run(init{});
      std::uint64_t states[2] = {1, 1};
      for (std::int64_t n = 1; n <= 26; ++n) {
        brute.step(S::about, n, states[1]);
        bool threw = false;
        try {
          f.step(S{}, states[0]);
        } catch (keel::error const&) {
          threw = true;
        }
        CHECK(threw == !brute.can);
        if (threw || !brute.can) return;
      }
    };
    CAPTURE(S::about.child_count);
    stops_with(app{}, "twin");
    stops_with(test::application<keel::list<test::host>>{}, test::host::name);
  }
}

inline bool has_conditions(kr::entry const& e) {
  bool has = e.what == kr::entry_kind::when || e.what == kr::entry_kind::choose;
  for (std::size_t i = 0; i < e.child_count; ++i) has = has || has_conditions(*e.children[i]);
  return has;
}

/// Copies of all schedules so far, so that somebody notices where none copies anything.
inline std::int64_t copies_seen = 0;

template <class S>
void holds() {
  using plan = kr::plan<app, S, test::twin>;
  static_assert(plan::is_steady);
  static constexpr counts constants = [] {
    counts n{};
    for (kr::region one : kr::single_regions) {
      n[0][std::size_t(index_of(one))] = plan::copies(kr::device, kr::host, one);
      n[1][std::size_t(index_of(one))] = plan::copies(kr::host, kr::device, one);
    }
    return n;
  }();
  test::run run{"twin"};
  kr::grid const g{{5, 4}, kr::ghost_width{1}, kr::periodic{true, false}}; // with all regions
  std::vector<std::int64_t> const nodes_here{7, 5, 3, 1, -2}, copied{3, 7};
  kr::partition<nodes> const m{run.environment(), nodes_here, copied};
  fields by_plan{run, g, m, kr::extra<d>{3}}, tracked{run, g, m, kr::extra<d>{3}};
  follower brute;
  by_plan.run(init{});
  tracked.run(init{});
  std::uint64_t states[3] = {1, 1, 1};
  bool sees_the_same = true;
  counts before_plan{}, before_tracked{}, before_brute{};
  for (std::int64_t n = 1; n <= plan::transient + plan::period; ++n) {
    auto const by_plan_seen = seen_until(-1, by_plan, [&](auto& look) { by_plan.step(S{}, states[0], look); });
    tracked.set_steps(n);
    sees_the_same = sees_the_same &&
                    by_plan_seen == seen_until(-1, tracked, [&](auto& look) { tracked.run(S{}, states[1], look); });
    brute.step(S::about, n, states[2]);
    if (n == plan::transient)
      before_plan = counted(by_plan), before_tracked = counted(tracked), before_brute = brute.counted();
  }
  counts const in_plan = counted(by_plan) - before_plan, in_tracked = counted(tracked) - before_tracked,
               in_brute = brute.counted() - before_brute;
  bool const is_minimal = in_plan == in_brute && in_tracked == in_brute;
  bool at_most = true;
  for (std::size_t w = 0; w < 2; ++w)
    for (std::size_t r = 0; r < kr::region_count; ++r)
      at_most = at_most && in_brute[w][r] <= constants[w][r], copies_seen += in_brute[w][r];
  CAPTURE(S::about.child_count);
  CHECK(brute.can);
  CHECK(is_minimal);
  CHECK((has_conditions(S::about) ? at_most : constants == in_brute));
  // Then each routine of a step in turn throws.
  for (int fuse = 0; fuse < 1'000; ++fuse) {
    for (fields* f : {&by_plan, &tracked}) {
      f->run(init{});
      f->set_steps(by_plan.steps());
    }
    std::uint64_t chances[2] = {states[0] + std::uint64_t(fuse), states[0] + std::uint64_t(fuse)};
    auto nothing = [] {};
    for (std::int64_t n = 0; n < plan::transient; ++n) {
      by_plan.step(S{}, chances[0], nothing);
      tracked.set_steps(by_plan.steps());
      tracked.run(S{}, chances[1], nothing);
    }
    auto const left = seen_until(fuse, by_plan, [&](auto& look) { by_plan.step(S{}, chances[0], look); });
    tracked.set_steps(by_plan.steps());
    sees_the_same =
        sees_the_same && left == seen_until(fuse, tracked, [&](auto& look) { tracked.run(S{}, chances[1], look); });
    if (left.empty()) break;
  }
  CHECK(sees_the_same);
}

} // namespace test::generated
