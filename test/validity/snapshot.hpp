// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A ledger and its memories, put into a state instead of led there, for one operation; and what the oracle says that
/// the operation does to each region of each level alone. So it is cheap to ask whether an operation on many of them
/// does to each what it would do to it alone.

#include "effects.hpp"
#include "small_memories.hpp"

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test {

namespace kr = keel::residency;

/// The memories that hold each region of a level: five bits for core, five for rim, five for ghosts.
using holders = std::uint16_t;

/// How a routine's list is given to the ledger.
enum class by : std::uint8_t { list, prepared, exchange, poisoned, failing };

/// The ledger, its memories, and the state that both were put into.
class snapshot {
public:
  using word = small_memories::word;

  explicit snapshot(int variables, int levels, int memories, int components = 1)
      : provider(variables, levels, memories, components), book(provider, memories, components), levels_(levels),
        memories_(memories), components_(components), states_(std::size_t(variables * levels * components)),
        held(states_), copies_in_flight(states_), expected_(states_) {
    for (int v = 0; v < variables; ++v) (void)book.add("v" + std::to_string(v), levels, small_memories::bytes);
    for (int m = 0; m < memories; ++m) book.open(kr::memory(m));
    provider.reset();
  }

  [[nodiscard]] std::size_t states() const { return states_; }
  [[nodiscard]] std::size_t index(int variable, int level, int component = 0) const {
    return std::size_t((variable * levels_ + level) * components_ + component);
  }

  /// Whether all that a list needs is somewhere.
  [[nodiscard]] bool can(std::span<kr::request const> list, int m) const {
    for (kr::request const& r : list)
      for (int k = 0; k < 3; ++k)
        if (!table().of(k, m, held[index(r.variable, r.level)] >> 5 * k & 31U, std::uint8_t(r.reads) >> k & 1U).can)
          return false;
    return true;
  }
  /// A routine's list, all of it in `m`; the components of `range`. True where it did what the oracle says that it does
  /// to each region alone: it is refused where one of them is valid nowhere, and then has changed nothing; what it
  /// reads is right; the bytes moved are the sum; each memory holds what the book claims; it waited only where the host
  /// overwrites what may be leaving, and then did.
  bool run(std::span<kr::request const> list, int m, by how = by::list, kr::component_range range = {}) {
    enter();
    bool can = true, may_wait = arriving.where != kr::region::none;
    std::uint64_t to_host = 0, to_device = 0;
    for_each(list, range, [&](kr::request const& r, int, std::size_t i) {
      unsigned const needs = std::uint8_t(r.reads), changes = std::uint8_t(r.writes);
      bool is_host_written = changes != 0, leaves = false;
      unsigned after = 0;
      for (int k = 0; k < 3; ++k) {
        unsigned const way =
            (needs >> k & 1U) | (changes >> k & 1U) << 1 | (k == 2 && (changes & oracle::owned) != 0 ? 4U : 0U);
        bool const arrives =
            i == 0 && arriving.is_newest && (std::uint8_t(arriving.where) >> k & 1U) != 0; // as good as there
        effect const& e = table().of(k, m, (held[i] >> 5 * k & 31U) | unsigned{arrives}, way);
        can = can && e.can;
        to_host += e.comes_to_host ? small_memories::bytes[std::size_t(k)] : 0;
        to_device += e.goes_to_device ? small_memories::bytes[std::size_t(k)] : 0;
        is_host_written = is_host_written || e.comes_to_host;
        leaves = leaves || e.goes_to_device;
        bool const is_lost = how == by::failing && (way & (effects::changed | effects::neighbours_changed)) != 0;
        after |= is_lost ? 0U : unsigned{e.held} << 5 * k;
      }
      expected_[i] = holders(after);
      may_wait = may_wait || (is_host_written && (copies_in_flight[i] != 0 || (leaves && how == by::poisoned)));
    });
    if (!bring(list, m, how, range)) {
      if (provider.failed_wait) return is_good_;
      expected_ = held;
      return expect(!can, "it was refused") && is_as_expected(0, 0, false);
    }
    if (!expect(can, "it was not refused")) return false;
    for_each(list, range, [&](kr::request const& r, int c, std::size_t i) {
      word const mask = small_memories::mask_of(r.reads);
      expect(((provider.at(r.variable, r.level, c, m) ^ value(i)) & mask) == 0, "a read found something else");
      provider.write(r.variable, r.level, c, r.writes, m, fresh(i));
    });
    finish(list, m, how, range);
    for_each(list, range, [&](kr::request const& r, int, std::size_t i) {
      word const mask = small_memories::mask_of(r.writes);
      values_[i] = (values_[i] & ~mask) | (fresh(i) & mask);
    });
    bool const good = is_as_expected(to_host, to_device, may_wait);
    if (arriving.where == kr::region::none) return good;
    book.wait_for_copies(); // and when it has arrived
    return is_as_expected(to_host, to_device, may_wait) && good;
  }
  /// These fail where `fails_at` says so, without components and with nothing under way.
  bool cycle(int variable, bool is_in_place = false) {
    enter();
    if (fails([&] { is_in_place ? book.cycle_in_place(variable) : book.cycle(variable); }))
      return is_as_expected(0, 0, false); // as it was
    for (int c = 0; c < components_; ++c) {
      std::size_t const oldest = index(variable, levels_ - 1, c);
      auto const kept = held[oldest];
      auto const its_value = value(oldest);
      for (int l = levels_ - 1; l > 0; --l) {
        expected_[index(variable, l, c)] = held[index(variable, l - 1, c)];
        values_[index(variable, l, c)] = value(index(variable, l - 1, c));
      }
      if (levels_ == 1) continue;
      expected_[index(variable, 0, c)] = is_in_place ? kept : holders(0);
      if (is_in_place) values_[index(variable, 0, c)] = its_value;
    }
    return is_as_expected(0, 0, false);
  }
  bool rewind(int variable) {
    enter();
    if (fails([&] { book.rewind(variable); }))
      return is_as_expected(0, 0, false); // two levels: one call of the provider
    for (int c = 0; c < components_; ++c) {
      for (int l = 0; l + 1 < levels_; ++l) {
        expected_[index(variable, l, c)] = held[index(variable, l + 1, c)];
        values_[index(variable, l, c)] = value(index(variable, l + 1, c));
      }
      if (levels_ > 1) expected_[index(variable, levels_ - 1, c)] = 0;
    }
    return is_as_expected(0, 0, false);
  }
  bool copy_from_past(int variable) {
    enter();
    if (fails([&] { book.copy_from_past(variable); })) { // half of it counts as nothing
      expected_[index(variable, 0)] = 0;
      return is_as_expected(0, 0, false);
    }
    bool may_wait = false;
    for (int c = 0; c < components_; ++c) {
      std::size_t const now = index(variable, 0, c), past = index(variable, 1, c);
      expected_[now] = held[past], values_[now] = value(past);
      may_wait = may_wait || copies_in_flight[now] != 0;
    }
    return is_as_expected(0, 0, may_wait);
  }
  bool copy_back(std::span<int const> variables, bool all_levels) {
    enter();
    book.copy_back(variables, all_levels, "output", kr::every_component);
    bool may_wait = false;
    std::uint64_t to_host = 0;
    for (int v : variables)
      for (int l = 0; l < (all_levels ? levels_ : 1); ++l)
        for (int c = 0; c < components_; ++c) {
          std::size_t const i = index(v, l, c);
          for (int k = 0; k < 3; ++k) {
            unsigned const there = held[i] >> 5 * k & 31U;
            if (there == 0 || (there & 1U) != 0) continue;
            to_host += small_memories::bytes[std::size_t(k)];
            expected_[i] = holders(expected_[i] | 1U << 5 * k);
            may_wait = may_wait || copies_in_flight[i] != 0;
          }
        }
    return is_as_expected(to_host, 0, may_wait);
  }

  small_memories provider;
  kr::ledger<small_memories> book;

private:
  int levels_, memories_, components_;
  std::size_t states_;

public:
  /// The state, by `index`, which each operation begins with: who holds what, and which devices may be reading it on
  /// the host (the whole level, of which some copy to them was begun and not waited for).
  std::vector<holders> held;
  std::vector<std::uint8_t> copies_in_flight;
  /// What is on its way, for the first variable, to the host from a device that has it, or had it.
  struct arrival {
    kr::region where = kr::region::none;
    int from = 1;
    bool is_newest = true;
  } arriving;
  int fails_at =
      -1; ///< the call of the provider that throws in an operation, which is then tried again; never where negative
  long failed_calls = 0; ///< how often one did
  std::string first_mistake;

  /// What the book says now, after an operation.
  [[nodiscard]] holders held_now(std::size_t i) const { return holders_of(book_cells()[i]); }
  [[nodiscard]] std::uint8_t flights_now(std::size_t i) const {
    return std::uint8_t((book.in_flight()[i] & kr::all_copies) << 1);
  }

private:
  static effects const& table() {
    static effects const made;
    return made;
  }
  // The book's cells and sets of holders, one from the other by its own words.
  struct dictionary {
    static constexpr kr::region regions[] = {kr::core, kr::region::rim, kr::region::halo};
    std::array<kr::validity, 1 << 15> cell;
    std::array<holders, 1 << 15> held;
    dictionary() {
      for (unsigned h = 0; h < 1U << 15; ++h) {
        kr::validity c = kr::valid_nowhere;
        for (kr::region r : regions)
          for (int m = 0; m < most_memories; ++m)
            if ((h >> (5 * index_of(r) + m) & 1U) != 0) c = after_copy(c, r, kr::memory(m));
        cell[h] = c;
      }
      for (unsigned n = 0; n < 1U << 15; ++n) {
        held[n] = 0;
        for (kr::region r : regions)
          for (int m = 0; m < most_memories; ++m)
            if (is_valid(kr::validity(n), r, kr::memory(m))) held[n] = holders(held[n] | 1U << (5 * index_of(r) + m));
      }
    }
  };
  static dictionary const& words() {
    static dictionary const made;
    return made;
  }
  static holders holders_of(kr::validity c) { return words().held[c & kr::bits_of(kr::region::inside)]; }
  kr::validity const* book_cells() const { return const_cast<kr::ledger<small_memories>&>(book).states(); }

  static word value(std::size_t i) {
    unsigned const first = unsigned(3 * i);
    return (1 + first % 100) | (1 + (first + 1) % 100) << 8 | (1 + (first + 2) % 100) << 16;
  }
  static constexpr word old = 0x7f7f7f;
  static holders on_host(kr::region r) {
    unsigned const n = std::uint8_t(r);
    return holders((n & 1U) | (n >> 1 & 1U) << 5 | (n >> 2 & 1U) << 10);
  }
  static word fresh(std::size_t i) { return value(i) + 0x808080; }
  [[nodiscard]] word held_mask(holders h, int m) const {
    return (h >> m & 1U) * 0xffU | (h >> (m + 5) & 1U) * 0xff00U | (h >> (m + 10) & 1U) * 0xff0000U;
  }

  template <class F>
  void for_each(std::span<kr::request const> list, kr::component_range range, F&& f) {
    for (kr::request const& r : list)
      for (int c = range.begin, end = range.of(components_).end; c < end; ++c) f(r, c, index(r.variable, r.level, c));
  }
  // Puts book and memories into the state.
  void enter() {
    is_good_ = true;
    provider.reset();
    for (std::size_t i = 0; i < states_; ++i)
      if (flights_now(i) != copies_in_flight[i] || kr::arriving_regions(book.in_flight()[i]) != kr::region::none ||
          arriving.where != kr::region::none) {
        let_fly();
        break;
      }
    provider.reset();
    values_.resize(states_);
    expected_ = held;
    provider.fails_in = fails_at;
    kr::validity* const cell = book.states();
    for (std::size_t i = 0; i < states_; ++i) {
      cell[i] = words().cell[held[i]];
      values_[i] = value(i);
      auto const [v, l, c] = place_of(i);
      provider.leaving(v, l, c) = copies_in_flight[i] * 0x010101U;
      for (int m = 0; m < memories_; ++m) {
        word const there = held_mask(held[i], m);
        provider.at(v, l, c, m) = (value(i) & there) | (small_memories::poisoned & ~there);
      }
      provider.arriving(v, l, c).mask = 0;
    }
    if (arriving.where == kr::region::none) return;
    provider.arriving(0, 0, 0) = {small_memories::mask_of(arriving.where), arriving.is_newest ? value(0) : old,
                                  arriving.from};
    provider.leaving(0, 0, 0) &= ~(0x010101U << arriving.from); // that bit is the arrival's
    if (arriving.is_newest) cell[0] |= kr::slow_path;
  }
  struct place {
    int variable, level, component;
  };
  [[nodiscard]] place place_of(std::size_t i) const {
    int const n = int(i);
    return {n / (levels_ * components_), n / components_ % levels_, n % components_};
  }
  // The book has copies under way only by having them made.
  void let_fly() {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t i = 0; i < states_; ++i) {
        auto const [v, l, c] = place_of(i);
        kr::component_range const one{c, c + 1};
        book.states()[i] = words().cell[1 | 1 << 5 | 1 << 10]; // on the host alone
        if (pass == 0 && book.in_flight()[i] != 0) book.require_invalid_data(v, l, kr::core, kr::host, one);
        if (pass == 1 && i == 0 && arriving.where != kr::region::none) {
          book.states()[0] = words().cell[(1U | 1U << 5 | 1U << 10) << arriving.from];
          kr::request const begun{v, l, arriving.where, kr::region::none};
          book.begin_to_host({&begun, 1}, "arrival", one);
          expect(kr::arriving_regions(book.in_flight()[0]) == arriving.where && (book.states()[0] & kr::slow_path) != 0,
                 "a copy to the host is not in the book");
          book.states()[0] = words().cell[1 | 1 << 5 | 1 << 10];
        }
        for (int d = 1; pass == 1 && d < memories_; ++d)
          if ((copies_in_flight[i] >> d & 1U) != 0)
            book.require_valid_data(v, l, kr::region::everywhere, kr::memory(d), "flight", one);
      }
    for (std::size_t i = 0; i < states_; ++i)
      expect(flights_now(i) == copies_in_flight[i], "a copy under way is not in the book");
  }
  // Whether the provider throws, which the error has to say, with the variable.
  template <class F>
  bool fails(F&& f) {
    try {
      f();
      return false;
    } catch (keel::error const& e) {
      ++failed_calls;
      std::string_view const text = e.what();
      expect(provider.failures == 1 && text.find("the bus is on fire") != text.npos && text.find("v0") != text.npos,
             "an error says too little");
      return true;
    }
  }
  bool bring(std::span<kr::request const> list, int m, by how, kr::component_range range) {
    try {
      if (how == by::exchange) book.pre_sync(list, range);
      else if (how == by::prepared) {
        call_ = book.prepare(list, kr::memory(m), "step", range);
        book.pre_call(call_);
      } else book.pre_call(list, kr::memory(m), "step", range);
    } catch (keel::error const& e) {
      if (provider.failures == 0) return false;
      provider.failures = 0;
      ++failed_calls;
      std::string_view const text = e.what();
      expect(text.find(how == by::exchange ? "exchange" : "step") != text.npos &&
                 text.find("the bus is on fire") != text.npos && text.find("v") != text.npos,
             "an error says too little");
      return is_true_so_far() ? bring(list, m, how, range) : false;
    }
    if (how == by::poisoned) book.poison(list, kr::memory(m), range);
    return true;
  }
  // After half of the copies: what the book claims is there, and what was there it still claims.
  bool is_true_so_far() {
    for (std::size_t i = 0; i < states_; ++i) {
      auto const [v, l, c] = place_of(i);
      // but on a device that it could not wait for
      unsigned const unsure = provider.failed_wait ? unsigned{copies_in_flight[i]} * (1U | 1U << 5 | 1U << 10) : 0;
      expect((held[i] & ~held_now(i) & ~unsure) == 0, "a failed copy took away what was valid");
      for (int m = 0; m < memories_; ++m)
        expect(((provider.at(v, l, c, m) ^ value(i)) & held_mask(held_now(i), m)) == 0,
               "after a failed copy the book claims what is not");
    }
    return !provider.failed_wait;
  }
  void finish(std::span<kr::request const> list, int m, by how, kr::component_range range) {
    if (how == by::exchange) book.post_sync(list, range);
    else if (how == by::prepared) book.post_call(call_);
    else if (how == by::failing) book.lose(list, range);
    else book.post_call(list, kr::memory(m), range);
  }
  bool is_as_expected(std::uint64_t to_host, std::uint64_t to_device, bool may_wait) {
    bool good = expect(provider.mistakes == 0, "a copy still under way was overtaken, or a batch was wrong");
    good = expect(provider.to_host_bytes == to_host && provider.to_device_bytes == to_device,
                  "other bytes moved than had to") &&
           good;
    good = expect(may_wait || provider.waits == 0, "it waited for nothing") && good;
    kr::validity const* const cell = book_cells();
    bool same = true, right = true, known = true;
    for (std::size_t i = 0; i < states_; ++i) {
      auto const [v, l, c] = place_of(i);
      // Who moves leaves holders behind that nobody foretells: what they hold has to be right.
      holders const claimed = holders_of(cell[i]);
      // And what arrives need not have been waited for.
      holders const bonus = i == 0 ? on_host(arriving.where) : holders(0);
      same = same && ((claimed | bonus) == (expected_[i] | bonus) || provider.answers == kr::answer::moved) &&
             ((claimed & ~expected_[i]) == 0 || provider.answers == kr::answer::moved);
      for (int m = 0; m < memories_; ++m)
        right = right && ((provider.at(v, l, c, m) ^ values_[i]) & held_mask(claimed, m)) == 0;
      word const left = provider.leaving(v, l, c);
      unsigned const devices = (left | left >> 8 | left >> 16) |
                               (provider.arriving(v, l, c).mask != 0 ? 1U << provider.arriving(v, l, c).from : 0U);
      known = known && (devices & 0xffU & ~unsigned{flights_now(i)}) == 0;
    }
    good = expect(same, "the book says something else") && good;
    good = expect(right, "what the book calls valid is not") && good;
    return expect(known, "a copy under way is not in the book") && good && is_good_;
  }
  bool expect(bool good, char const* what) {
    if (!good && first_mistake.empty()) first_mistake = what;
    is_good_ = is_good_ && good;
    return good;
  }

  std::vector<holders> expected_;
  std::vector<word> values_;
  kr::prepared call_;
  bool is_good_ = true;
};

} // namespace test
