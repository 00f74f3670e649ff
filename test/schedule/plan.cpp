// SPDX-License-Identifier: MIT
#include <keel/schedule/plan.hpp>

#include <residency/run.hpp>
#include <validity/trial.hpp>

#include <keel/impl/schedule/liveness.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/machine/alone.hpp>

#include <support/test.hpp>

#include <deque>
#include <random>

namespace kr = keel::residency;

namespace {

using app = test::application<keel::list<test::host, keel::simulated>>;

struct eta : kr::variable<"eta", double**, kr::levels<3>> {};
struct u : kr::variable<"u", double***, kr::levels<3>> {};
struct du : kr::variable<"du", double***> {};
struct depth : kr::variable<"depth", double**> {};

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>, kr::past<u, 1>, depth>, kr::writes<du>> {};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::past<eta, 1>, kr::past<u, 1>, kr::owned<du>>,
                             kr::writes<eta, u>> {};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {};
struct forcing : kr::routine<"forcing", kr::on_host, kr::updates<kr::past<u, 1>>> {};
struct storm {
  static bool holds();
};

struct step : kr::schedule<kr::cycle<eta, u>, rhs, advance, kr::exchange<eta, u>, kr::every<10, output>> {};
using planned = kr::plan<app, step, keel::simulated>;
static_assert(planned::period == 10 && planned::transient == 10);
static_assert(planned::copies(kr::host, kr::device, kr::core) == 0);
static_assert(planned::copies(kr::device, kr::host) == 21);
static_assert(planned::copies(kr::device, kr::host, kr::core) == 1);
static_assert(planned::copies(kr::device, kr::host, kr::region::rim) == 20);
static_assert(planned::copies(kr::host, kr::device, kr::region::ghosts) == 20);
static_assert(planned::copies(kr::host, kr::device) == 20);
static_assert(planned::copies(kr::memory(4), kr::host) == 0 && planned::copies(kr::host, kr::memory(4)) == 0);
using on_one_memory = kr::plan<app, step, test::host>;
static_assert(on_one_memory::copies(kr::host, kr::device) == 0 && on_one_memory::copies(kr::device, kr::host) == 0);

struct no_exchange : kr::schedule<kr::cycle<eta, u>, rhs, advance> {};
static_assert(kr::plan<app, no_exchange, keel::simulated>::lacks_exchange(2));
static_assert(!kr::plan<app, no_exchange, keel::simulated>::lacks_exchange(1)); // its requests end where those begin
static_assert(!planned::lacks_exchange(2) && !planned::lacks_exchange(3));

struct mean : kr::variable<"mean", double> {};
struct add_up : kr::routine<"add_up", kr::on_device, kr::reads<depth>, kr::writes<mean>> {};
struct say : kr::routine<"say", kr::on_host, kr::reads<mean>> {};
struct sums : kr::schedule<add_up, say> {};

template <class Place, class Tracking>
struct exchanging : test::application<keel::list<test::host, keel::simulated>, Tracking> {
  using exchange = Place;
};
static_assert(kr::detail::exchanges_on_device<exchanging<kr::on_device, kr::automatic>>);
static_assert(!kr::detail::exchanges_on_device<exchanging<kr::on_device, kr::checked>>);
static_assert(!kr::detail::exchanges_on_device<exchanging<kr::on_host, kr::automatic>>);
static_assert(!kr::detail::exchanges_on_device<app>);

// In the numbers of fields that have the variables in another order, or lack one.
template <class S, class... Vars>
using in_fields_with = kr::detail::bound_schedule<S, kr::detail::variable_index<Vars...>>;
static_assert(in_fields_with<step, depth, du, u, eta>::requests[0].variable == 3);
static_assert(in_fields_with<step, depth, du, u, eta>::is_complete(2) && !in_fields_with<step, eta, u>::is_complete(2));
static_assert(in_fields_with<kr::schedule<say, add_up>, mean>::is_complete(1));
static_assert(!in_fields_with<kr::schedule<say, add_up>, mean>::is_complete(2));
static_assert(kr::plan<app, sums, keel::simulated>::copies(kr::device, kr::host) == 1);
static_assert(kr::plan<app, sums, keel::simulated>::copies(kr::device, kr::host, kr::core) == 1);

struct stormy : kr::schedule<kr::cycle<eta, u>, kr::when<storm, forcing>, rhs, advance, kr::exchange<eta, u>> {};

static_assert(kr::plan<app, stormy, keel::simulated>::copies(kr::host, kr::device, kr::core) == 1);

// Schedules made at random, as data.
class generator {
public:
  static constexpr int variables = 3;
  static constexpr kr::variable_info infos[variables] = {{"a", 1, true}, {"b", 2, true}, {"c", 3, true}};
  static constexpr kr::variable_info scratches[variables] = {{"a", 1, true, {}, true, 1, {}, true},
                                                             {"b", 1, true, {}, true, 1, {}, true},
                                                             {"c", 1, true, {}, true, 1, {}, true}};

  explicit generator(std::uint64_t seed, kr::variable_info const* of = infos) : random_(seed), infos_(of) {}
  int below(int n) { return int(random_() % std::uint64_t(n)); }
  // `deep` levels of conditions and repetitions at most; `storms`: with conditions of no known period.
  kr::entry const& schedule(int deep, bool storms) { return group(kr::entry_kind::sequence, 1, deep, storms); }

private:
  kr::entry const& group(kr::entry_kind what, int count, int deep, bool storms) {
    auto& children = children_.emplace_back();
    for (int n = 1 + below(4); n > 0; --n) children.push_back(&entry(deep, storms));
    return entries_.emplace_back(kr::entry{what, "group", {}, nullptr, 0, children.data(), children.size(), count});
  }
  kr::entry const& entry(int deep, bool storms) {
    int const what = below(deep > 0 ? storms ? 15 : 14 : 8);
    if (what == 7 && below(4) == 0) return declares(kr::entry_kind::output, {}, {});
    if (what == 6 && below(2) == 0) {
      kr::variable_info const& v = infos_[below(variables)];
      return declares(kr::entry_kind::walls, {kr::place::kind::at_chosen, {}},
                      {{&v, std::uint8_t(below(v.levels)), below(2) == 0 ? kr::region::inside : kr::region::walls,
                        kr::region::walls}});
    }
    if (what == 0 && !infos_->is_scratch) {
      kr::entry_kind const ways[] = {kr::entry_kind::rewind, kr::entry_kind::cycle_in_place, kr::entry_kind::cycle};
      return declares(ways[std::min(below(5), 2)], {}, {{&infos_[below(variables)]}});
    }
    if (what == 1) {
      kr::variable_info const& v = infos_[below(variables)];
      auto const level = std::uint8_t(below(v.levels));
      if (below(3) == 0)
        return declares(kr::entry_kind::accumulate, {},
                        {{&v, level, kr::region::rim | kr::region::halo, kr::region::rim}});
      return declares(kr::entry_kind::exchange, {}, {{&v, level, kr::region::rim, kr::region::halo}});
    }
    if (what == 8 || what == 9) return group(kr::entry_kind::every, 1 + below(4), deep - 1, storms);
    if (what == 14) return group(kr::entry_kind::choose, 1, deep - 1, storms);
    if (what == 10 || (what > 11 && infos_->is_scratch)) // values that come round are what is hard about scratches
      return group(kr::entry_kind::repeat, below(4), deep - 1, storms);
    if (what == 12) return group(kr::entry_kind::analysis, 1, deep - 1, storms);
    if (what == 13) return group(kr::entry_kind::once, 1, deep - 1, storms);
    if (what == 11)
      return group(storms ? kr::entry_kind::when : kr::entry_kind::every, storms ? 1 : 6, deep - 1, storms);
    kr::detail::declarations<4> list;
    for (int n = 1 + below(3); n > 0; --n) {
      kr::variable_info const& v = infos_[below(variables)];
      auto const where = kr::region(1 + below(15));
      int const how = infos_->is_scratch && below(2) == 0 ? 2 : 1 + below(3);
      list.add({&v, std::uint8_t(below(v.levels)), (how & 1) != 0 ? where : kr::region::none,
                (how & 2) != 0 ? where : kr::region::none});
    }
    kr::place const places[] = {
        {kr::place::kind::at_host, {}}, {kr::place::kind::at_chosen, {}}, {kr::place::kind::at_named, "other"}};
    auto const what_calls = below(6) == 0 ? kr::entry_kind::reduce : kr::entry_kind::routine;
    return declares(what_calls, places[below(3)], {list.list.begin(), list.list.begin() + long(list.size)},
                    what_calls == kr::entry_kind::routine && below(2) == 0);
  }
  kr::entry const& declares(kr::entry_kind what, kr::place where, std::vector<kr::declaration> const& list,
                            bool in_pieces = false) {
    auto const& kept = lists_.emplace_back(list);
    kr::entry made{what, "entry", where, kept.data(), kept.size(), nullptr, 0, 1, in_pieces};
    static constexpr kr::wall_condition none{};
    made.conditions = &none;
    return entries_.emplace_back(made);
  }

  std::mt19937_64 random_;
  kr::variable_info const* infos_;
  std::deque<std::vector<kr::declaration>> lists_;
  std::deque<std::vector<kr::entry const*>> children_;
  std::deque<kr::entry> entries_;
};

constexpr std::size_t most_cells = 6;

// A schedule of the generator, and the memory of each node.
struct program : kr::detail::schedule_table<256, 512> {
  explicit program(kr::entry const& e) : schedule_table(e) {
    for (std::size_t i = 0; i < size; ++i) where[i] = kr::memory(std::uint8_t(nodes[i].about->where.what));
  }
  kr::memory where[256]{};

  [[nodiscard]] auto steady() const { return kr::detail::steady_search<program, most_cells>(*this, where).find(); }
};

// How often the body of a group runs.
int rounds(kr::entry const& e, std::int64_t step, generator& chance) {
  switch (e.what) {
  case kr::entry_kind::every: return step % e.count == 0;
  case kr::entry_kind::when: return chance.below(2);
  case kr::entry_kind::once: return step == 1;
  default: return e.count;
  }
}

// Lets `walker` follow one way through a group.
void follow(program const& p, std::size_t group, std::int64_t step, generator& chance, auto& walker, auto const& body) {
  kr::entry const& e = *p.nodes[group].about;
  if (is_choice(e.what)) return walk_one(p.nodes, group, std::size_t(chance.below(int(e.child_count))), walker);
  for (int n = rounds(e, step, chance); n > 0; --n) body();
}

// Exchanges of a step that are in flight at some time, and what is wrong with their ends. Of routines in pieces, some
// have none.
struct ends {
  program const& of;
  generator& chance;
  std::int64_t number;
  std::set<std::size_t> in_flight{};
  long wrong = 0, begun = 0, begun_within = 0;

  void begin(std::size_t exchange) {
    wrong += in_flight.empty() ? 0 : 1; // they share their messages
    in_flight.insert(exchange), ++begun;
  }
  void finish(std::size_t exchange) {
    if (exchange != kr::detail::no_node) wrong += in_flight.erase(exchange) == 1 ? 0 : 1;
  }
  void leaf(std::size_t i) {
    auto const& n = of.nodes[i];
    bool const is_under_way = in_flight.contains(i);
    if (!is_under_way) finish(n.finishes);
    if (n.begins != kr::detail::no_node && chance.below(2) == 0) {
      wrong += n.begins == i + 1 && of.nodes[i + 1].what() == kr::entry_kind::exchange ? 0 : 1;
      finish(of.nodes[n.begins].finishes);
      begin(n.begins), ++begun_within;
    }
    if (n.what() == kr::entry_kind::exchange && !is_under_way) begin(i);
    if (n.what() == kr::entry_kind::exchange && !n.only_begins) finish(i);
    finish(n.finishes_last);
  }
  void group(std::size_t i, auto const& body) {
    finish(of.nodes[i].finishes);
    ::follow(of, i, number, chance, *this, body);
  }
};

// What steps read of the levels that there are when the first of them begins. Groups run by chance, those of the first
// step not.
struct later_reads {
  program const& of;
  generator& chance;
  kr::region read[generator::variables][3]{}; ///< by variable and the level that it was
  /// That level, of what lies in a region now; below 0: new.
  std::array<int, kr::region_count> origin[generator::variables][3]{};

  void follow(int steps) {
    for (auto& levels : origin)
      for (int l = 0; l < 3; ++l) levels[l].fill(l);
    for (int n = 0; n < steps; ++n) walk(of.nodes, 0, of.size, *this);
  }
  void leaf(std::size_t i) {
    auto const what = of.nodes[i].what();
    if (what == kr::entry_kind::output)
      for (std::size_t v = 0; v < of.variable_count; ++v)
        for (int l = 0; l < of.variables[v]->levels; ++l) note(int(v), l, kr::region::owned);
    for (auto const& r : of.view().asked(i))
      if (!rotates(what)) note(r.variable, r.level, r.reads);
    for (auto const& r : of.view().asked(i))
      if (rotates(what)) rotate(r, rotation_of(what));
      else
        for (kr::region one : kr::single_regions)
          if (overlap(one, invalidated_by(r.writes))) origin[r.variable][r.level][index_of(one)] = -1;
  }
  void note(int v, int level, kr::region where) {
    for (kr::region one : kr::single_regions)
      if (int const was = origin[v][level][index_of(one)]; was >= 0 && overlap(one, where))
        read[v][was] = read[v][was] | one;
  }
  void rotate(kr::request const& r, kr::rotation how) {
    int const levels = of.levels(r);
    auto* const freed = kr::rotate_levels(origin[r.variable], levels, how);
    if (levels > 1 && freed != nullptr) freed->fill(-1);
  }
  void group(std::size_t i, auto const& body) { ::follow(of, i, 2 + chance.below(12), chance, *this, body); }
};

// A step with scratches: what each holds in memory of its own, and in the pool that it shares.
struct shared_memory {
  program const& of;
  generator& chance;
  kr::detail::scratches const& all;
  std::int64_t number;
  kr::region alone[generator::variables]{}, shared[generator::variables]{};
  long wrong = 0;

  void leaf(std::size_t i) {
    for (kr::request const& one : of.view().asked(i)) {
      auto const v = std::size_t(one.variable);
      kr::region const read = one.reads & kr::region::everywhere;
      wrong += without(read, alone[v] | kr::region::walls) != kr::region::none;
      wrong += without(read & alone[v], shared[v]) != kr::region::none;
      if (one.writes == kr::region::none) continue;
      for (int other : all.pools[all.pool_of(one.variable)])
        if (other != one.variable) shared[other] = kr::region::none;
      for (kr::region* held : {&alone[v], &shared[v]}) *held = without(*held, invalidated_by(one.writes)) | one.writes;
    }
  }
  void group(std::size_t i, auto const& body) { ::follow(of, i, number, chance, *this, body); }
};

// A schedule with the ledger and the oracle, step after step, from data that are valid everywhere on the host. It goes
// no further once a read finds nothing, and the ledger has to say so where the oracle does; or it `skips` such reads.
class followed {
public:
  followed(program const& p, generator& chance, int memories, bool skips = false)
      : program_(p), chance_(chance), memories_(memories), skips_(skips),
        t_(memories, {{1, {1, 1, 1, 1}}, {2, {1, 1, 1, 1}}, {3, {1, 1, 1, 1}}}) {
    std::vector<oracle::access> all;
    for (int v = 0; v < generator::variables; ++v)
      for (int l = 0; l < generator::infos[v].levels; ++l) all.push_back({v, l, 0, oracle::everywhere});
    agrees = t_.run(0, all);
  }
  bool agrees = true, stops = false;
  bool is_left_to_ledger = false; ///< it lacks walls, or in a later step a level that no exchange fills

  void step(std::int64_t number) {
    step_ = number;
    walk(program_.nodes, 0, program_.size, *this);
  }
  void leaf(std::size_t i) {
    if (stops) return;
    std::vector<oracle::access> list;
    for (auto r = program_.nodes[i].first; r < program_.nodes[i].last; ++r) {
      kr::request const& one = program_.requests[r];
      int const v = program_.variables[one.variable]->name[0] - 'a';
      if (program_.nodes[i].what() == kr::entry_kind::cycle) t_.cycle(v);
      else if (program_.nodes[i].what() == kr::entry_kind::rewind) t_.rewind(v);
      else if (program_.nodes[i].what() == kr::entry_kind::cycle_in_place) t_.cycle_in_place(v);
      else list.push_back({v, one.level, unsigned(one.reads), unsigned(one.writes)});
    }
    if (skips_)
      for (oracle::access& a : list)
        for (kr::region one : kr::single_regions)
          if (t_.program.version(a.variable, a.level, index_of(one)) < 0) a.needs &= ~unsigned(one);
    stops = !t_.program.can(list);
    agrees = agrees && t_.run(memories_ == 1 ? 0 : int(program_.where[i]), list);
    if (!stops) return;
    for (oracle::access& a : list) a.needs &= ~oracle::walls;
    is_left_to_ledger = t_.program.can(list);
    for (oracle::access& a : list) a.needs &= oracle::owned;
    is_left_to_ledger = is_left_to_ledger || (step_ > 1 && !t_.program.can(list));
  }
  void group(std::size_t i, auto const& body) { ::follow(program_, i, step_, chance_, *this, body); }
  [[nodiscard]] std::int64_t copied(kr::way w, kr::region one) const {
    return std::int64_t(t_.book.traffic().bytes(w, one)); // a byte each
  }
  [[nodiscard]] bool is_minimal() const { return t_.is_minimal(); }

private:
  program const& program_;
  generator& chance_;
  int memories_;
  bool skips_;
  test::trial t_;
  std::int64_t step_ = 0;
};

} // namespace

TEST_CASE(
    "residency: what a schedule reads of lost data is refused while compiling or by the ledger, and nothing else is") {
  long refused = 0, thrown = 0, right = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    bool const has_conditions = seed % 2 != 0;
    generator make(seed);
    program const p(make.schedule(2, has_conditions));
    constexpr kr::memory on_host[256]{};
    bool const is_refused =
        kr::detail::steady_search<program, most_cells>(p, on_host, nullptr, true).find().lost_request !=
        kr::detail::no_request;
    for (int memories : {1, 3}) {
      followed f(p, make, memories);
      for (std::int64_t n = 1; n <= 100 && !f.stops; ++n) f.step(n);
      bool good = f.agrees;
      // Without conditions the compiler knows all but walls, which a grid need not have, and what comes between steps.
      if (!has_conditions) good = good && is_refused <= f.stops && (is_refused || !f.stops || f.is_left_to_ledger);
      refused += is_refused, thrown += !is_refused && f.stops, right += !is_refused && !f.stops, wrong += !good;
    }
  }
  CHECK(wrong == 0);
  CHECK(refused > 3'000);
  CHECK(thrown > 300);
  CHECK(right > 500);
}

TEST_CASE("residency: every exchange that begins ends once, on every path through a random schedule") {
  long wrong = 0, begun = 0, begun_within = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(3, true));
    for (std::int64_t n = 1; n <= 4; ++n) {
      ends all{p, make, n};
      walk(p.nodes, 0, p.size, all);
      wrong += all.wrong + long(all.in_flight.size()), begun += all.begun, begun_within += all.begun_within;
    }
  }
  CHECK(wrong == 0);
  CHECK(begun > 1'000);
  CHECK(begun_within > 500);
}

TEST_CASE("residency: the plan of random schedules counts what a ledger copies in a period, and no copy too many") {
  long wrong = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(2, false));
    auto const found = p.steady();
    followed run(p, make, 3, true);
    std::int64_t before[2][kr::region_count]{}, n = 1;
    for (; n <= found.transient; ++n) run.step(n);
    auto const each = [&](auto const& f) {
      for (kr::way w : {kr::way::to_host, kr::way::to_device})
        for (kr::region one : kr::single_regions) f(w, one, before[std::size_t(w)][index_of(one)]);
    };
    each([&](kr::way w, kr::region one, std::int64_t& all) { all = run.copied(w, one); });
    for (; n <= found.transient + found.period; ++n) run.step(n);
    bool good = found.period != 0 && run.agrees && run.is_minimal();
    each([&](kr::way w, kr::region one, std::int64_t all) {
      auto const& planned_copies = found.period_copies.copies;
      for (int m = 1; m < 3; ++m)
        all += planned_copies[w == kr::way::to_host ? m : 0][w == kr::way::to_host ? 0 : m][index_of(one)];
      good = good && all == run.copied(w, one);
    });
    wrong += !good;
  }
  CHECK(wrong == 0);
}

TEST_CASE("residency: what is live before steps of a random schedule is what some of them read of it") {
  long wrong = 0, missed = 0, live_parts = 0, dead = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(2, true));
    kr::detail::live_levels none;
    for (std::size_t v = 0; v < p.variable_count; ++v) none.emplace_back(std::size_t(p.variables[v]->levels));
    auto const nodes = p.view();
    auto const live = live_before({&nodes, 1}, none, false);
    later_reads all{p, make};
    for (int path = 0; path < 200; ++path) all.follow(5);
    for (std::size_t v = 0; v < live.size(); ++v)
      for (std::size_t l = 0; l < live[v].size(); ++l)
        for (kr::region one : kr::single_regions) {
          bool const is_live = overlap(one, live[v][l].what), is_read = overlap(one, all.read[v][l]);
          wrong += is_read && !is_live, missed += is_live && !is_read, live_parts += is_live, dead += !is_live;
        }
  }
  CHECK(wrong == 0);
  CHECK(missed * 100 < live_parts); // of those that few paths lead to
  CHECK(dead > 1'000);
}

TEST_CASE("residency: in random schedules no scratch is overwritten in the memory that it shares while it is read") {
  long accepted = 0, sharing = 0, wrong = 0;
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    generator make(seed, generator::scratches);
    program const p(make.schedule(3, true));
    constexpr kr::memory on_host[256]{};
    bool is_refused = false;
    for (std::size_t v = 0; v < p.variable_count && !is_refused; ++v)
      is_refused = kr::detail::scratch_walk<>(p.view(), on_host, int(v)).mistake.node != kr::detail::no_node;
    if (is_refused) continue;
    kr::detail::scratches const all(p.view(), on_host);
    ++accepted, sharing += all.pools.size() < all.variables.size();
    for (std::int64_t n = 0; n < 10; ++n) {
      shared_memory one{p, make, all, n};
      walk(p.nodes, 0, p.size, one);
      wrong += one.wrong;
    }
  }
  CHECK(wrong == 0);
  CHECK(accepted > 1'000);
  CHECK(sharing > 100);
}
