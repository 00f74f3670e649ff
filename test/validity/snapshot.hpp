// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A trial that is put into a state instead of led there, for one operation, after which all is compared with the
/// oracle: every region of every level, the bytes that moved, the waits.

#include "trial.hpp"

namespace test {

/// The memories that hold each region of a level: five bits for core, five for rim, five for ghosts.
using holders = std::uint16_t;

class snapshot : public trial {
public:
  explicit snapshot(int variables, int levels, int memories, int components = 1)
      : trial(memories, std::vector<oracle::variable>(std::size_t(variables), {levels, {5, 7, 11, 0}}), true,
              components),
        levels_(levels), held(std::size_t(variables * levels * components)), copies_in_flight(held.size()) {
    provider.waits_fail = true;
  }

  [[nodiscard]] std::size_t states() const { return held.size(); }

  /// Whether all that a list needs is somewhere.
  [[nodiscard]] bool can(std::vector<oracle::access> const& list) const {
    for (auto const& a : list)
      for (int k = 0; k < 3; ++k)
        if ((a.needs >> k & 1U) != 0 && holders_in(held[index(a.variable, a.level, 0)], k) == 0) return false;
    return true;
  }
  /// As `trial::run`. It waits only if the host overwrites what may be leaving.
  bool run(std::vector<oracle::access> const& list, int m, by how = by::list, kr::component_range range = {}) {
    enter();
    bool may_wait = arriving.where != kr::region::none;
    for (auto const& a : list)
      for (int c = range.begin, end = range.of(components_).end; c < end; ++c) {
        bool is_host_written = a.changes != 0, leaves = false;
        for (int k = 0; k < 3; ++k) {
          unsigned const there = program.held(number_of(a.variable, c), a.level, k);
          bool const is_lacking = (a.needs >> k & 1U) != 0 && (there >> m & 1U) == 0;
          is_host_written = is_host_written || (is_lacking && (there & 1U) == 0);
          leaves = leaves || (is_lacking && m != 0);
        }
        bool const is_in_flight = copies_in_flight[index(a.variable, a.level, c)] != 0;
        may_wait = may_wait || (is_host_written && (is_in_flight || (leaves && how == by::poisoned)));
      }
    trial::run(m, list, how, range);
    if (provider.failed_wait) return first_mistake.empty();
    expect_all(may_wait);
    if (arriving.where != kr::region::none) {
      book.wait_for_copies(); // and when it has arrived
      expect_all(may_wait);
    }
    return first_mistake.empty();
  }
  /// These fail where `fails_at` says so, without components and with nothing under way. Then all is as it was.
  bool cycle(int variable) {
    return change([&] { trial::cycle(variable); });
  }
  bool cycle_in_place(int variable) {
    return change([&] { trial::cycle_in_place(variable); });
  }
  bool rewind(int variable) { // two levels: one call of the provider
    return change([&] { trial::rewind(variable); });
  }
  /// Half of it counts as nothing.
  bool copy_from_past(int variable) {
    auto const lose = [&] {
      for (int k = 0; k < 3; ++k) program.place(variable, 0, k, 0);
    };
    return change([&] { trial::copy_from_past(variable); }, lose, is_any_in_flight(variable, 1));
  }
  bool copy_back(std::vector<int> const& variables, bool all_levels) {
    bool may_wait = false;
    for (int v : variables) may_wait = may_wait || is_any_in_flight(v, all_levels ? levels_ : 1);
    return change([&] { trial::copy_back(variables, all_levels); }, [] {}, may_wait);
  }

private:
  int levels_;

public:
  /// The state, by variable, level and component, which each operation begins with: who holds what, and which devices
  /// may be reading it on the host (the whole level, of which some copy to them was begun and not waited for).
  std::vector<holders> held;
  std::vector<std::uint8_t> copies_in_flight;
  /// What is on its way, for the first variable, to the host from a device that has it, or had it.
  struct arrival {
    kr::region where = kr::region::none;
    int from = 1;
    bool is_newest = true;
  } arriving;
  int fails_at = -1; ///< the call of the provider that throws in an operation; never where negative

  /// What the book says now, after an operation.
  [[nodiscard]] holders held_now(std::size_t i) const {
    unsigned all = 0;
    for (int k = 0; k < 3; ++k)
      for (int m = 0; m < memories_; ++m)
        all |= unsigned(is_valid(book.states()[i], kr::single_regions[k], kr::memory(m))) << (5 * k + m);
    return holders(all);
  }
  [[nodiscard]] std::uint8_t flights_now(std::size_t i) const {
    return std::uint8_t((book.in_flight()[i] & kr::all_copies) << 1);
  }

private:
  static constexpr unsigned host_alone = 1U | 1U << 5 | 1U << 10;
  static constexpr word old = 0x7f7f'7f7f'7f7f'7f7f;

  [[nodiscard]] static unsigned holders_in(unsigned all, int region) { return all >> 5 * region & 31U; }
  [[nodiscard]] std::size_t index(int variable, int level, int component) const {
    return std::size_t((variable * levels_ + level) * components_ + component);
  }
  [[nodiscard]] bool is_any_in_flight(int variable, int levels) const {
    auto const first = copies_in_flight.begin() + std::ptrdiff_t(index(variable, 0, 0));
    return std::any_of(first, first + levels * components_, [](auto const& one) { return one != 0; });
  }
  [[nodiscard]] kr::validity cell_of(unsigned all) const {
    kr::validity c = kr::valid_nowhere & ~kr::bits_of(kr::region::walls);
    for (int k = 0; k < 3; ++k)
      for (int m = 0; m < memories_; ++m)
        if ((holders_in(all, k) >> m & 1U) != 0) c = after_copy(c, kr::single_regions[k], kr::memory(m));
    return c;
  }

  // Puts book, memories and oracle into the state.
  void enter() {
    provider.reset();
    bool flies = arriving.where != kr::region::none;
    for (std::size_t i = 0; i < states(); ++i)
      flies = flies || flights_now(i) != copies_in_flight[i] ||
              kr::arriving_regions(book.in_flight()[i]) != kr::region::none;
    if (flies) let_fly();
    provider.reset();
    provider.fails_in = fails_at;
    program.restart();
    std::size_t i = 0;
    for_each_state([&](int v, int l, int c) {
      int const number = number_of(v, c);
      unsigned const comes = i == 0 && arriving.is_newest ? unsigned(arriving.where) : 0U; // as good as there
      for (int k = 0; k < 3; ++k) program.place(number, l, k, holders_in(held[i], k) | (comes >> k & 1U));
      auto& cell = provider.at(v, l, c);
      word const values = values_of(number, l);
      for (int m = 0; m < memories_; ++m) {
        unsigned there = 0;
        for (int k = 0; k < 3; ++k) there |= (holders_in(held[i], k) >> m & 1U) << k;
        word const mask = recording_provider::mask_of(kr::region(there));
        cell.in[std::size_t(m)] = (values & mask) | (recording_provider::poisoned & ~mask);
      }
      cell.leaving = copies_in_flight[i] * recording_provider::one_bit_each;
      cell.arriving = {};
      book.states()[i] = cell_of(held[i]);
      ++i;
    });
    if (arriving.where == kr::region::none) return;
    auto& first = provider.at(0, 0, 0);
    first.arriving = {recording_provider::mask_of(arriving.where), arriving.is_newest ? values_of(0, 0) : old,
                      arriving.from};
    first.leaving &= ~(recording_provider::one_bit_each << arriving.from); // that bit is the arrival's
    if (arriving.is_newest) book.states()[0] |= kr::slow_path;
  }
  // The book has copies under way only by having them made.
  void let_fly() {
    for (int pass = 0; pass < 2; ++pass) {
      std::size_t i = 0;
      for_each_state([&](int v, int l, int c) {
        kr::component_range const one{c, c + 1};
        book.states()[i] = cell_of(host_alone);
        if (pass == 0 && book.in_flight()[i] != 0) book.require_invalid_data(v, l, kr::core, kr::host, one);
        if (pass == 1 && i == 0 && arriving.where != kr::region::none) {
          book.states()[0] = cell_of(host_alone << arriving.from);
          kr::request const begins_now{v, l, arriving.where, kr::region::none};
          book.begin_to_host({&begins_now, 1}, "arrival", one);
          expect(kr::arriving_regions(book.in_flight()[0]) == arriving.where && (book.states()[0] & kr::slow_path) != 0,
                 "a copy to the host is not in the book");
          book.states()[0] = cell_of(host_alone);
        }
        for (int d = 1; pass == 1 && d < memories_; ++d)
          if ((copies_in_flight[i] >> d & 1U) != 0)
            book.require_valid_data(v, l, kr::region::everywhere, kr::memory(d), "flight", one);
        ++i;
      });
    }
    for (std::size_t i = 0; i < states(); ++i)
      expect(flights_now(i) == copies_in_flight[i], "a copy under way is not in the book");
  }
  template <class F, class Lose = void (*)()>
  bool change(F&& f, Lose&& lose = [] {}, bool may_wait = false) {
    enter();
    try {
      f();
    } catch (keel::error const& e) {
      expect(provider.failures == 1, "it was refused");
      expect_failure(e.what(), "v0");
      lose();
    }
    expect_all(may_wait);
    return first_mistake.empty();
  }
  void expect_all(bool may_wait) {
    expect(provider.mistakes == 0, "a copy still under way was overtaken, or a batch was wrong");
    oracle::bill const bill = program.make_bill();
    expect(provider.bytes_to_host == bill.host_bytes() && provider.bytes_to_device == bill.device_bytes(),
           "other bytes moved than had to");
    expect(may_wait || provider.waits == 0, "it waited for nothing");
    expect_claims();
    std::size_t i = 0;
    for_each_state([&](int v, int l, int c) {
      unsigned expected = 0, bonus = 0; // what arrives need not have been waited for
      for (int k = 0; k < 3; ++k) {
        expected |= program.held(number_of(v, c), l, k) << 5 * k;
        if (i == 0) bonus |= (unsigned(arriving.where) >> k & 1U) << 5 * k;
      }
      unsigned const claimed = held_now(i);
      // Who moves leaves holders that nobody foretells: what they hold has to be right.
      expect(provider.answers == kr::answer::moved ||
                 ((claimed | bonus) == (expected | bonus) && (claimed & ~expected) == 0),
             "the book says something else");
      auto const& cell = provider.at(v, l, c);
      word const left = cell.leaving;
      unsigned const devices =
          unsigned(left | left >> 16 | left >> 32) | (cell.arriving.mask != 0 ? 1U << cell.arriving.from : 0U);
      expect((devices & 0xffU & ~unsigned{flights_now(i)}) == 0, "a copy under way is not in the book");
      ++i;
    });
  }
};

} // namespace test
