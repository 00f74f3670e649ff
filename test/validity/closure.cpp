// SPDX-License-Identifier: MIT
/// @file
/// Every operation from every state that can be reached, breadth first to closure, two variables of two levels and
/// three regions in three memories. All of it at once are 7^12 states, so it is walked in two ways: the regions of one
/// variable jointly, and each region of both variables jointly. That nothing else is to be found in between stands in
/// two more tests: an operation does to each region of each level what the oracle says that it does to it alone.
///
/// KEEL_TEST_CLOSURE=whole: copies under way are part of the state, and lists for both levels ask for every pair of all
/// regions. It takes ten minutes of a core.
#include <keel/validity/ledger.hpp>

#include "snapshot.hpp"

#include <support/test.hpp>

#include <random>

namespace kr = keel::residency;
using test::by, test::snapshot;

namespace {

constexpr int memories = 3;
constexpr unsigned inside = oracle::owned | oracle::ghosts;

bool is_whole() {
  char const* const asked = std::getenv("KEEL_TEST_CLOSURE");
  return asked && std::strcmp(asked, "whole") == 0;
}

// What a walk visits: states of `regions`, one bit a memory, and of what is under way; others stay on the host.
class walk {
public:
  walk(int variables, unsigned regions, bool sees_flights)
      : s_(variables, levels, memories), variables_(variables), regions_(regions), sees_flights_(sees_flights) {
    for (int r = 0; r < 3; ++r)
      if ((regions >> r & 1U) != 0) shifts_.push_back(5 * r);
    bits_ = std::size_t(memories) * shifts_.size() * s_.states();
    seen_.resize(std::size_t{1} << (bits_ + (sees_flights ? 2 * s_.states() : 0)));
  }

  /// Lists of up to `most` requests, each of a level of its own, with all that can be done to the regions.
  void add_lists(std::size_t most) {
    std::vector<oracle::access> list;
    add_lists_from(0, most, list);
  }

  /// Goes on until nothing new is found, which are so many states.
  void close(std::size_t states) {
    std::vector<std::uint64_t> frontier;
    std::uint64_t const nothing = 0; // valid nowhere
    seen_[nothing] = true;
    frontier.push_back(nothing);
    std::uint64_t tried = 0;
    for (std::size_t at = 0; at < frontier.size() && s_.first_mistake.empty(); ++at) {
      enter(frontier[at]);
      auto const after = [&](bool /*is_right*/) {
        ++tried;
        std::uint64_t const now = key();
        std::size_t const mark = std::size_t(sees_flights_ ? now : now & ((std::uint64_t{1} << bits_) - 1));
        if (seen_[mark]) return;
        seen_[mark] = true;
        frontier.push_back(now);
      };
      for (std::size_t n = 0; n < calls_.size(); ++n) {
        call const& c = calls_[n];
        // Each list in the other ways that a driver has, by turns; of lists that are refused, and leave the state, each
        // by its turn.
        std::size_t const turn = (n + at) % 16;
        if (turn != 0 && !s_.can(c.list)) continue;
        after(s_.run(c.list, c.where,
                     turn == 3   ? by::prepared
                     : turn == 5 ? by::poisoned
                     : turn == 7 ? by::failing
                                 : by::list));
      }
      for (int v = 0; v < variables_; ++v) {
        after(s_.cycle(v));
        after(s_.rewind(v));
        after(s_.cycle_in_place(v));
        after(s_.copy_from_past(v));
        for (int l = 0; l < levels; ++l)
          if ((regions_ & oracle::rim) != 0 || regions_ == oracle::ghosts) {
            after(s_.run({{v, l, oracle::rim & regions_, oracle::ghosts & regions_}}, 0, by::exchange));
          }
        after(s_.copy_back({v}, false));
        after(s_.copy_back({v}, true));
      }
    }
    MESSAGE(frontier.size() << " states, " << tried << " operations");
    CHECK_MESSAGE(s_.first_mistake.empty(), s_.first_mistake);
    CHECK(frontier.size() == states);
  }

private:
  static constexpr int levels = 2;
  struct call {
    int where;
    std::vector<oracle::access> list;
  };

  void add_lists_from(std::size_t cell, std::size_t most, std::vector<oracle::access>& list) {
    if (cell == s_.states() || list.size() == most) {
      if (!list.empty())
        for (int m = 0; m < memories; ++m) calls_.push_back({m, list});
      return;
    }
    add_lists_from(cell + 1, most, list);
    for (unsigned reads = 0; reads < 8; ++reads)
      for (unsigned writes = 0; writes < 8; ++writes) {
        if ((reads | writes) == 0 || ((reads | writes) & ~regions_) != 0) continue;
        list.push_back({int(cell) / levels, int(cell) % levels, reads, writes});
        add_lists_from(cell + 1, most, list);
        list.pop_back();
      }
  }
  void enter(std::uint64_t key) {
    for (std::size_t i = 0; i < s_.states(); ++i) {
      unsigned h = 1U | 1U << 5 | 1U << 10;
      for (int shift : shifts_) {
        h = (h & ~(31U << shift)) | unsigned(key & 7) << shift;
        key >>= memories;
      }
      s_.held[i] = test::holders(h);
    }
    for (std::size_t i = 0; i < s_.states(); ++i, key >>= 2) s_.copies_in_flight[i] = std::uint8_t((key & 3) << 1);
  }
  [[nodiscard]] std::uint64_t key() const {
    std::uint64_t k = 0;
    int at = 0;
    for (std::size_t i = 0; i < s_.states(); ++i)
      for (int shift : shifts_) {
        k |= std::uint64_t(s_.held_now(i) >> shift & 7U) << at;
        at += memories;
      }
    for (std::size_t i = 0; i < s_.states(); ++i, at += 2) k |= std::uint64_t(s_.flights_now(i) >> 1) << at;
    return k;
  }

  snapshot s_;
  int variables_;
  unsigned regions_;
  bool sees_flights_;
  std::vector<int> shifts_;
  std::size_t bits_;
  std::vector<bool> seen_;
  std::vector<call> calls_;
};

} // namespace

TEST_CASE("residency: every operation from every state of a variable does what the oracle says") {
  walk w(1, oracle::everywhere, is_whole());
  w.add_lists(1);
  w.close(is_whole() ? 1'410'537 : 7 * 7 * 7 * 7 * 7 * 7);
}

TEST_CASE("residency: every operation on both levels of a variable does what the oracle says") {
  walk w(1, is_whole() ? oracle::everywhere : oracle::core | oracle::ghosts, false);
  w.add_lists(2);
  w.close(is_whole() ? 7 * 7 * 7 * 7 * 7 * 7 : 7 * 7 * 7 * 7);
}

TEST_CASE("residency: every operation on a region of two variables and levels does what the oracle says") {
  for (unsigned region : {oracle::core, oracle::rim, oracle::ghosts}) {
    walk w(2, region, is_whole());
    w.add_lists(4);
    w.close(is_whole() ? 21 * 21 * 21 * 21 : 7 * 7 * 7 * 7);
  }
}

TEST_CASE("residency: an operation does to each region what it does to it alone, in five memories") {
  snapshot s(1, 1, 5);
  for (unsigned held = 0; held < 1U << 15; ++held) {
    s.held[0] = test::holders(held);
    s.copies_in_flight[0] = std::uint8_t(held * 2654435761U >> 27 & 0x1eU);
    for (int m = 0; m < 5; ++m)
      for (unsigned reads = 0; reads < 8; ++reads)
        for (unsigned writes = 0; writes < 8; ++writes) {
          std::vector<oracle::access> const one{{0, 0, reads, writes}};
          if (!is_whole() && (held + reads + writes) % 16 != 0 && !s.can(one)) continue;
          s.run(one, m);
        }
  }
  CHECK_MESSAGE(s.first_mistake.empty(), s.first_mistake);
}

TEST_CASE("residency: with any regions in flight to the host an operation does what the oracle says") {
  snapshot s(1, 1, memories);
  std::uint64_t tried = 0;
  for (unsigned n = 0; n < 1U << 9; ++n)
    for (unsigned where = 1; where < 8; ++where)
      for (int from = 1; from < memories; ++from)
        for (bool is_newest : {true, false}) {
          bool is_possible = true; // what the host has is not on its way; what is newest the device still has
          for (int r = 0; r < 3; ++r) {
            unsigned const there = n >> 3 * r & 7;
            if ((where >> r & 1) != 0)
              is_possible = is_possible && (there & 1) == 0 && (!is_newest || (there >> from & 1) != 0);
          }
          if (!is_possible) continue;
          s.held[0] = test::holders((n & 7) | (n >> 3 & 7) << 5 | (n >> 6 & 7) << 10);
          s.arriving = {kr::region(where), from, is_newest};
          s.copies_in_flight[0] = std::uint8_t(1U << from | (n + where) % 4 << 1);
          for (int m = 0; m < memories; ++m)
            for (unsigned reads = 0; reads < 8; ++reads)
              for (unsigned writes = 0; writes < 8; ++writes) {
                std::vector<oracle::access> const one{{0, 0, reads, writes}};
                unsigned const turn = (n + where + reads + writes) % 16;
                if (turn != 0 && !s.can(one)) continue;
                s.run(one, m,
                      turn % 4 == 1   ? by::prepared
                      : turn % 4 == 2 ? by::poisoned
                      : turn == 7     ? by::failing
                                      : by::list);
                ++tried;
              }
        }
  CHECK_MESSAGE(s.first_mistake.empty(), s.first_mistake);
  CHECK(tried > 100'000);
}

TEST_CASE("residency: where copies move, what is read is right and what counts as valid is there") {
  snapshot s(1, 1, memories);
  s.provider.answers = kr::answer::moved;
  for (unsigned n = 0; n < 1U << 9; ++n) {
    s.held[0] = test::holders((n & 7) | (n >> 3 & 7) << 5 | (n >> 6 & 7) << 10);
    for (int m = 0; m < memories; ++m)
      for (unsigned reads = 0; reads < 8; ++reads)
        for (unsigned writes = 0; writes < 8; ++writes) {
          s.run({{0, 0, reads, writes}}, m, (n + reads) % 3 == 0 ? by::prepared : by::list);
        }
  }
  CHECK_MESSAGE(s.first_mistake.empty(), s.first_mistake);
}

TEST_CASE("residency: whichever copy of a list fails, nothing false is recorded and the next try succeeds") {
  snapshot s(2, 1, memories);
  for (unsigned n = 0; n < 1U << 12; ++n) {
    for (std::size_t i = 0; i < 2; ++i) {
      // The last region is the host's alone; ledger.cpp and the walks know all three.
      unsigned const of_core = n >> 6 * i & 7, of_rim = n >> (6 * i + 3) & 7;
      s.held[i] = test::holders(of_core | of_rim << 5 | 1U << 10);
      s.copies_in_flight[i] = std::uint8_t((n * 2654435761U >> (20 + 2 * i) & 3) << 1);
    }
    for (int m = 0; m < memories; ++m)
      for (int place = 0; place < 4; ++place) {
        unsigned const turn = n + unsigned(place);
        std::vector<oracle::access> const list{{0, 0, inside, turn % 8}, {1, 0, inside, turn / 8 % 8}};
        if (!s.can(list)) continue;
        s.fails_at = place;
        s.run(list, m, turn % 3 == 0 ? by::prepared : by::list);
        if (m == 0) s.run({{0, 0, oracle::rim, oracle::ghosts}, {1, 0, oracle::rim, oracle::ghosts}}, 0, by::exchange);
      }
  }
  CHECK_MESSAGE(s.first_mistake.empty(), s.first_mistake);
  CHECK(s.failures > 10'000);
  snapshot past(1, 2, memories);
  for (unsigned n = 0; n < 1U << 6; ++n) {
    past.held = {test::holders((n & 7) | 1U << 5 | 1U << 10), test::holders(n >> 3 | 2U << 5 | 4U << 10)};
    for (past.fails_at = 0; past.fails_at < 4; ++past.fails_at) {
      past.cycle(0), past.rewind(0);
      past.cycle_in_place(0), past.copy_from_past(0);
    }
  }
  CHECK_MESSAGE(past.first_mistake.empty(), past.first_mistake);
  CHECK(past.failures == 64 + 64 + 64 + 64 + 64 + 32);
}

TEST_CASE("residency: an operation on many variables does to each what it does to it alone") {
  long const rounds = is_whole() ? 2'000'000 : 200'000;
  std::mt19937_64 random(7'919);
  auto const below = [&](int n) { return int(random() % std::uint64_t(n)); };
  for (int shape = 0; shape < 20; ++shape) {
    int const variables = shape % 4 == 3 ? 70 : 1 + below(5), levels = 2 + below(2), components = 1 + below(3),
              mems = shape % 8 == 3 ? 2 : 1 + below(5);
    snapshot s(variables, levels, mems, components);
    for (long n = 0; n < rounds / 20; ++n) {
      bool const reads_much = below(2) == 0;
      for (std::size_t i = 0; i < s.states(); ++i) {
        auto const any = [&] { return unsigned(random()) & ((1U << mems) - 1); };
        unsigned h = any() | any() << 5 | any() << 10;
        if (reads_much) // or most lists would be refused
          for (int shift : {0, 5, 10})
            if ((h >> shift & 31U) == 0) h |= 1U << (shift + below(mems));
        s.held[i] = test::holders(h);
        if (n % 8 == 0) s.copies_in_flight[i] = std::uint8_t(random() & random() & ((1U << mems) - 2));
        else s.copies_in_flight[i] = s.flights_now(i);
      }
      std::vector<oracle::access> list;
      for (int v = 0; v < variables; ++v)
        for (int l = 0; l < levels; ++l)
          if (below(3) != 0) list.push_back({v, l, unsigned(below(8)), unsigned(below(8))});
      int const first = below(components);
      kr::component_range const range{first, first + 1 + below(components - first)};
      by const hows[] = {by::list, by::prepared, by::poisoned, by::failing};
      switch (below(14)) {
      case 13: s.cycle_in_place(below(variables)); break;
      case 12: s.rewind(below(variables)); break;
      case 0: s.cycle(below(variables)); break;
      case 1: s.copy_from_past(below(variables)); break;
      case 2: {
        std::vector<int> some;
        for (int v = 0; v < variables; ++v)
          if (below(2) == 0) some.push_back(v);
        s.copy_back(some, below(2) == 0);
        break;
      }
      case 3:
        for (oracle::access& a : list) a.needs = oracle::rim, a.changes = oracle::ghosts;
        s.run(list, 0, by::exchange, range);
        break;
      default: s.run(list, below(mems), hows[below(4)], range);
      }
    }
    CHECK_MESSAGE(s.first_mistake.empty(), s.first_mistake);
  }
}

TEST_CASE("residency: routines in one memory need and do together what they need and do one after the other") {
  std::mt19937_64 random(104'729);
  auto const below = [&](int n) { return int(random() % std::uint64_t(n)); };
  constexpr int variables = 2;
  snapshot s(variables, 1, 1);
  for (int v = 0; v < variables; ++v) s.book.set_layers(v, 3);
  std::uint64_t wrong = 0, answered = 0, asked = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<kr::prepared> calls;
    kr::prepared whole;
    bool is_closed = true;
    for (int n = 1 + below(4); n > 0; --n) {
      std::vector<kr::request> list;
      for (int v = 0; v < variables; ++v)
        if (below(3) != 0)
          list.push_back({v, 0, kr::region(below(2) * below(16)), kr::region(below(2) * below(16)),
                          std::uint8_t(1 + below(3)), std::uint8_t(1 + below(3))});
      is_closed = whole.append(calls.emplace_back(s.book.prepare(list, kr::host, "one"))) && is_closed;
    }
    for (unsigned n = 0; n < 1U << (4 * variables); ++n) {
      kr::validity before[variables], after[variables];
      for (unsigned v = 0; v < variables; ++v)
        before[v] = bits_of(kr::region(n >> 4 * v & 15U), kr::host) | kr::detail::layer_bits(below(4), 3);
      std::copy_n(before, variables, s.book.states());
      bool const is_ready = is_closed && s.book.is_ready(whole);
      s.book.post_call(whole);
      std::copy_n(s.book.states(), variables, after);
      std::copy_n(before, variables, s.book.states());
      bool can = true;
      for (kr::prepared const& one : calls) {
        can = can && s.book.is_ready(one);
        s.book.post_call(one);
      }
      wrong += is_ready != can || (can && !std::equal(after, after + variables, s.book.states()));
      ++(is_ready ? answered : asked);
    }
  }
  CHECK(wrong == 0);
  CHECK(answered > 500'000);
  CHECK(asked > 500'000);
}
