// SPDX-License-Identifier: MIT
#include <keel/residency/plan.hpp>

#include "run.hpp"

#include <keel/machine/alone.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

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
static_assert(planned::is_steady && planned::period == 10);
static_assert(planned::copies(kr::host, kr::device, kr::core) == 0);
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

struct rare : kr::schedule<step, kr::every<7, output>, kr::every<1000, output>> {};
static_assert(kr::plan<app, rare, keel::simulated>::copies(kr::device, kr::host, kr::core) > 0);
struct thousand : kr::schedule<kr::cycle<eta, u>, rhs, advance, kr::exchange<eta, u>, kr::every<1000, output>> {};
static_assert(kr::plan<app, thousand, keel::simulated>::period == 1000);
static_assert(kr::plan<app, thousand, keel::simulated>::copies(kr::device, kr::host, kr::region::rim) == 2000);

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
static_assert(in_fields_with<step, depth, du, u, eta>::numbers[0] == 3);
static_assert(in_fields_with<step, depth, du, u, eta>::is_complete(2) && !in_fields_with<step, eta, u>::is_complete(2));
static_assert(in_fields_with<kr::schedule<say, add_up>, mean>::is_complete(1));
static_assert(!in_fields_with<kr::schedule<say, add_up>, mean>::is_complete(2));
static_assert(kr::plan<app, sums, keel::simulated>::copies(kr::device, kr::host) == 1);
static_assert(kr::plan<app, sums, keel::simulated>::copies(kr::device, kr::host, kr::core) == 1);

struct stormy : kr::schedule<kr::cycle<eta, u>, kr::when<storm, forcing>, rhs, advance, kr::exchange<eta, u>> {};

// Regions that are tested in a planned step, over all reads: those that some step has to copy, and no others.
template <class P, class S>
constexpr int tested_by() {
  int tested = 0;
  std::size_t number = 0;
  auto const visit = [&](auto const& self, kr::entry const& e) -> void {
    std::size_t const at = number++;
    for (std::size_t i = 0; i < e.declaration_count; ++i)
      for (kr::region one : kr::single_regions)
        tested += overlap(one, e.first[i].reads) && !overlap(one, P::known(at, i));
    for (std::size_t i = 0; i < e.child_count; ++i) self(self, *e.children[i]);
  };
  visit(visit, S::about);
  return tested;
}
// The ghosts of eta and u for rhs, the rims of both for the exchange, the core of eta for the output.
static_assert(tested_by<planned, step>() == 2 + 2 + 1);
// A condition adds what depends on it: core and rim of u for rhs; and forcing has a core to bring down.
static_assert(tested_by<kr::plan<app, stormy, keel::simulated>, stormy>() == (2 + 2) + 2 + 1);
static_assert(kr::plan<app, stormy, keel::simulated>::copies(kr::host, kr::device, kr::core) == 1);

// Schedules made at random, as data.
class generator {
public:
  static constexpr int variables = 3;
  static constexpr kr::variable_info infos[variables] = {{"a", 1, true}, {"b", 2, true}, {"c", 3, true}};

  explicit generator(std::uint64_t seed) : random_(seed) {}
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
    int const what = below(deep > 0 ? 14 : 8);
    if (what == 7 && below(4) == 0) return declares(kr::entry_kind::output, {}, {});
    if (what == 0)
      return declares(below(4) == 0 ? kr::entry_kind::rewind : kr::entry_kind::cycle, {}, {{&infos[below(variables)]}});
    if (what == 1) {
      kr::variable_info const& v = infos[below(variables)];
      return declares(kr::entry_kind::exchange, {},
                      {{&v, std::uint8_t(below(v.levels)), kr::region::rim, kr::region::halo}});
    }
    if (what == 8 || what == 9) return group(kr::entry_kind::every, 1 + below(4), deep - 1, storms);
    if (what == 10) return group(kr::entry_kind::repeat, below(4), deep - 1, storms);
    if (what == 12) return group(kr::entry_kind::analysis, 1, deep - 1, storms);
    if (what == 13) return group(kr::entry_kind::once, 1, deep - 1, storms);
    if (what == 11)
      return group(storms ? kr::entry_kind::when : kr::entry_kind::every, storms ? 1 : 6, deep - 1, storms);
    kr::detail::declarations<4> list;
    for (int n = 1 + below(3); n > 0; --n) {
      kr::variable_info const& v = infos[below(variables)];
      int const cells = 1 + below(15), how = 1 + below(3); // of those that name walls, half need them written
      auto const where = kr::region((cells & 8) != 0 && below(2) == 0 ? cells | 16 : cells);
      list.add({&v, std::uint8_t(below(v.levels)), (how & 1) != 0 ? where : kr::region::none,
                (how & 2) != 0 ? where & kr::region::everywhere : kr::region::none});
    }
    kr::place const places[] = {
        {kr::place::kind::at_host, {}}, {kr::place::kind::at_chosen, {}}, {kr::place::kind::at_named, "other"}};
    return declares(kr::entry_kind::routine, places[below(3)],
                    {list.list.begin(), list.list.begin() + long(list.size)});
  }
  kr::entry const& declares(kr::entry_kind what, kr::place where, std::vector<kr::declaration> const& list) {
    auto const& kept = lists_.emplace_back(list);
    return entries_.emplace_back(kr::entry{what, "entry", where, kept.data(), kept.size(), nullptr, 0, 1});
  }

  std::mt19937_64 random_;
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
  [[nodiscard]] auto known(kr::detail::steady_state<most_cells> const& s) const {
    return kr::detail::known_valid_analysis<program, most_cells>(*this, where, s.may_be_stale).find();
  }
};
using knowledge = kr::detail::known_valid<program::max_requests, most_cells>;

// How often the body of a group runs.
int rounds(kr::entry const& e, std::int64_t step, generator& chance) {
  switch (e.what) {
  case kr::entry_kind::every: return step % e.count == 0;
  case kr::entry_kind::when: return chance.below(2);
  case kr::entry_kind::once: return step == 1;
  default: return e.count;
  }
}

// The tracked run, in the plainest way: what is valid where, and a copy where a read lacks it.
class tracked {
public:
  explicit tracked(program const& p, generator& chance) : program_(p), chance_(chance) {
    for (auto& c : valid)
      for (auto& r : c) r[0] = true, r[1] = r[2] = false;
  }
  bool valid[most_cells][kr::region_count][3]{};
  // As a cell has it: walls are not stale where nobody wrote them.
  [[nodiscard]] bool is_stale(std::size_t c, std::size_t r, int m) const {
    bool const(&at)[3] = valid[c][r];
    return !at[m] && (r != 3 || at[0] || at[1] || at[2]);
  }
  std::int64_t copies[3][3][kr::region_count]{};
  bool is_lost = false;      // a read found nothing
  bool is_refused = false;   // one of walls did: a program goes no further
  bool was_deceived = false; // a read known to find its data did not, or a copy left from what none is known to leave

  void step(std::int64_t number, knowledge const* known) {
    step_ = number;
    known_ = known;
    walk(program_.nodes, 0, program_.size, *this);
  }
  void leaf(std::size_t i) {
    auto const& in = program_.nodes[i];
    for (auto r = in.first; r < in.last; ++r)
      if (rotates(in.what())) rotate(program_.requests[r], in.what() == kr::entry_kind::rewind);
      else visit(program_.requests[r], r, std::size_t(program_.where[i]));
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    for (int n = rounds(*program_.nodes[i].about, step_, chance_); n > 0; --n) body();
  }

private:
  // Written without the library's rotation.
  void rotate(kr::request const& s, bool back) {
    int const levels = program_.levels(s), first = program_.cell_of(s);
    if (levels < 2) return;
    if (back)
      for (int l = 0; l + 1 < levels; ++l) std::copy_n(&valid[first + l + 1][0][0], 12, &valid[first + l][0][0]);
    else
      for (int l = levels - 1; l > 0; --l) std::copy_n(&valid[first + l - 1][0][0], 12, &valid[first + l][0][0]);
    std::fill_n(&valid[back ? first + levels - 1 : first][0][0], 12, false);
  }
  void visit(kr::request const& s, std::size_t number, std::size_t m) {
    auto const cell = program_.cell_of(s);
    for (std::size_t r = 0; r < kr::region_count; ++r) {
      bool(&at)[3] = valid[cell][r];
      if (r == 3 && !at[0] && !at[1] && !at[2]) { // walls that nobody wrote
        if (!overlap(s.reads, kr::region::written)) continue;
        if (known_ && overlap(known_->reads[number], kr::region::written)) was_deceived = true;
        is_refused = true;
        continue;
      }
      if ((unsigned(s.reads) >> r & 1) != 0 && !at[m]) {
        if (known_ && overlap(known_->reads[number], kr::region(1U << r))) was_deceived = true;
        if (!at[0] && !at[1] && !at[2]) is_lost = true;
        std::size_t const source = at[0] ? 0 : at[1] ? 1 : 2;
        if (at[0] || at[1] || at[2]) {
          if (source != 0) ++copies[source][0][r];
          if (m != 0) ++copies[0][m][r];
          if (m != 0 && known_ && !known_->leaves_host[s.variable]) was_deceived = true;
          at[0] = true;
        }
        at[m] = true;
      }
    }
    for (std::size_t r = 0; r < kr::region_count; ++r) {
      bool const is_written = (unsigned(s.writes) >> r & 1) != 0;
      bool const is_spoiled = is_written || (r == 2 && (unsigned(s.writes) & 3) != 0);
      if (is_spoiled) std::fill_n(valid[cell][r], 3, false);
      if (is_written) valid[cell][r][m] = true;
    }
  }

  program const& program_;
  generator& chance_;
  std::int64_t step_ = 0;
  knowledge const* known_ = nullptr;
};

// A step with pending updates, beside a ledger in which each entry records what it writes. Each look has to find the
// truth, and what is pending has to be known at every position, also to those who are interrupted there.
class deferring {
public:
  struct row {
    kr::cell of[most_cells]{};
    friend bool operator==(row const&, row const&) = default;
  };

  deferring(program const& p, knowledge const& known, generator& chance)
      : program_(p), known_(known), chance_(chance), flushed_(std::make_unique<flushes>()) {
    auto const add = [&](auto when, auto const& a) { flushed_->add(when, a); };
    kr::detail::pending_analysis(program_, program_.where, known_, add).find_flushed();
  }
  // Whether every look found the truth in a step that begins with `now`.
  bool step(std::int64_t number, row const& now) {
    step_ = number, now_ = deferred_ = now, is_true_ = true;
    kr::detail::walk<kr::detail::steps::later>(program_.nodes, 0, program_.size, *this);
    flush(kr::detail::before(program_.size));
    return is_true_ && now_ == deferred_;
  }
  [[nodiscard]] long marks() const { return marks_; }
  [[nodiscard]] long updates() const { return updates_; }

  void leaf(std::size_t i) {
    auto const& in = program_.nodes[i];
    flush(kr::detail::before(i));
    if (in.what() == kr::entry_kind::output) fetch(0, most_cells);
    for (auto r = in.first; r < in.last && has_place(in.what()); ++r)
      read(program_.requests[r], r, program_.where[i], in.what() == kr::entry_kind::exchange);
    for (auto r = in.first; r < in.last; ++r) {
      kr::request const& one = program_.requests[r];
      if (has_place(in.what()))
        now_.of[program_.cell_of(one)] = after_write(now_.of[program_.cell_of(one)], one.writes, program_.where[i]),
        ++marks_;
      else if (int const levels = program_.levels(one); levels > 1)
        kr::rotate_cells(now_.of + program_.cell_of(one), levels,
                         in.what() == kr::entry_kind::rewind ? kr::rotation::rewind : kr::rotation::cycle);
    }
    interrupt(kr::detail::inside(i));
    flush(kr::detail::behind(i));
    for (auto r = in.first; r < in.last && has_place(in.what()); ++r) send(program_.requests[r], program_.where[i]);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    auto const what = program_.nodes[i].what();
    flush(kr::detail::before(i));
    for (int n = rounds(*program_.nodes[i].about, step_, chance_); n > 0; --n) {
      body();
      if (what != kr::entry_kind::sequence) flush(kr::detail::behind(i));
    }
    if (what == kr::entry_kind::analysis) fetch_written(i);
  }

private:
  using flushes = kr::detail::flush_table<256, 4096>;

  void flush(kr::detail::position when) {
    auto const [first, last] = flushed_->at(when);
    kr::detail::flush(deferred_.of, flushed_->list + first, flushed_->list + last);
    updates_ += last - first;
    if (when != kr::detail::before(program_.size)) interrupt(when);
  }
  // A step that is interrupted here learns what is pending.
  void interrupt(kr::detail::position when) {
    row reached = deferred_;
    auto const apply = [&](auto, auto const& a) { kr::detail::flush(reached.of, &a, &a + 1); };
    kr::detail::pending_analysis(program_, program_.where, known_, apply).find_pending(when);
    is_true_ = is_true_ && reached == now_;
  }
  void read(kr::request const& s, std::size_t number, kr::memory where, bool looks) {
    bool const is_known = without(s.reads, known_.reads[number]) == kr::region::none;
    auto const cell = program_.cell_of(s);
    if (looks || !is_known) is_true_ = is_true_ && deferred_.of[cell] == now_.of[cell];
    if (!is_known)
      for (kr::region r : kr::single_regions)
        if (overlap(r, s.reads)) copy(cell, r, where);
  }
  // Copies that the schedule does not name: what the host has just written goes to a device early, output goes to the
  // host.
  void send(kr::request const& s, kr::memory where) {
    if (where == kr::host && s.writes != kr::region::none && known_.leaves_host[s.variable])
      for (kr::region r : kr::single_regions)
        if (chance_.below(2) == 0) copy(program_.cell_of(s), r, kr::memory(1 + chance_.below(2)));
  }
  void fetch(std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      for (kr::region r : kr::single_regions)
        if (chance_.below(2) == 0) copy(c, r, kr::host);
  }
  void fetch_written(std::size_t i) {
    for (auto r = program_.nodes[i].first; r < program_.nodes[program_.nodes[i].end - 1].last; ++r)
      if (kr::request const& one = program_.requests[r]; one.writes != kr::region::none)
        fetch(program_.first_cell[one.variable], program_.first_cell[one.variable + 1]);
  }
  // As a ledger does it, by what the row says; both rows note it.
  void copy(std::size_t c, kr::region r, kr::memory to) {
    is_true_ = is_true_ && deferred_.of[c] == now_.of[c];
    kr::memory const from = source_of(now_.of[c], r);
    if (from == kr::memory::none) return;
    for (row* b : {&deferred_, &now_}) {
      if (from != kr::host) b->of[c] = after_copy(b->of[c], r, kr::host);
      b->of[c] = after_copy(b->of[c], r, to);
    }
  }

  program const& program_;
  knowledge const& known_;
  generator& chance_;
  std::unique_ptr<flushes> flushed_;
  row now_, deferred_;
  std::int64_t step_ = 0;
  long marks_ = 0, updates_ = 0;
  bool is_true_ = true;
};

} // namespace

TEST_CASE("residency: a plan counts the copies of one period") {
  CHECK(planned::copies(kr::device, kr::host) == 21);
  CHECK(planned::transient >= 10);
}

TEST_CASE("residency: the plan of random schedules counts what the tracked run copies in a period") {
  long steady = 0, followed = 0, wrong = 0, off_course = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(2, false));
    auto const found = p.steady();
    if (found.period == 0) continue;
    ++steady;
    auto const certain = p.known(found);
    tracked t(p, make);
    std::int64_t n = 1;
    long strayed = 0;
    for (; n <= found.transient; ++n) t.step(n, nullptr);
    std::fill_n(&t.copies[0][0][0], 36, 0);
    for (; n <= found.transient + found.period; ++n) {
      for (std::size_t c = 0; c < most_cells; ++c)
        for (kr::region r : kr::single_regions)
          for (int m = 0; m < 3; ++m)
            if ((certain.needed[c] & bits_of(r & kr::region::everywhere, kr::memory(m))) != 0 &&
                t.is_stale(c, std::size_t(index_of(r)), m))
              ++strayed;
      t.step(n, &certain);
    }
    bool is_same = !t.was_deceived;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int r = 0; r < kr::region_count; ++r)
          is_same = is_same && t.copies[a][b][r] == found.period_copies.copies[a][b][r];
    if (t.is_refused) continue;
    ++followed;
    wrong += !is_same, off_course += strayed;
  }
  CHECK(steady == 10'000);
  CHECK(followed > 7'000);
  CHECK(wrong == 0);
  CHECK(off_course == 0);
}

TEST_CASE("residency: reads that a plan knows find their data from every state that it allows") {
  long deceived = 0, reads_known = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(3, true));
    auto const found = p.steady();
    if (found.period == 0) continue;
    auto const certain = p.known(found);
    for (kr::region known : certain.reads) reads_known += known != kr::region::none;
    for (int n = 0; n < 4; ++n) {
      tracked t(p, make);
      for (std::size_t c = 0; c < most_cells; ++c)
        for (kr::region r : kr::single_regions)
          for (int m = 0; m < 3; ++m)
            t.valid[c][index_of(r)][m] =
                (certain.needed[c] & (bits_of(r & kr::region::everywhere, kr::memory(m)) |
                                      (m == 0 && r == kr::region::walls ? bits_of(kr::region::written) : 0))) != 0 ||
                make.below(3) == 0;
      t.step(2 + make.below(12), &certain);
      deceived += t.was_deceived && !t.is_refused;
    }
  }
  CHECK(reads_known > 5'000);
  CHECK(deceived == 0);
}

TEST_CASE("residency: pending updates are in the ledger before it is looked at, and at the end of the step") {
  long lies = 0, marks = 0, paid = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    generator make(seed);
    program const p(make.schedule(3, seed % 2 == 0));
    auto const found = p.steady();
    if (found.period == 0) continue;
    auto const certain = p.known(found);
    deferring both(p, certain, make);
    for (int n = 0; n < 4; ++n) {
      deferring::row start;
      for (std::size_t c = 0; c < most_cells; ++c) {
        kr::cell now = kr::cell(make.below(1 << 21)) | (make.below(2) == 0 ? kr::slow_path : 0);
        if (make.below(2) == 0)
          now = (now & ~bits_of(kr::region::walls & kr::region::everywhere)) | bits_of(kr::region::written);
        start.of[c] = now & ~certain.needed[c];
      }
      lies += !both.step(2 + make.below(12), start);
    }
    marks += both.marks(), paid += both.updates();
  }
  CHECK(lies == 0);
  CHECK(paid > 10'000);
  CHECK(paid < marks);
}
