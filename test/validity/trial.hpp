// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A ledger beside the oracle.

#include "recording_provider.hpp"

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>

#include <support/oracle.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// How a routine's list is given to the ledger. One that is failing fails when it has written.
enum class by : std::uint8_t { list, prepared, exchange, poisoned, failing };

/// A ledger, its provider and an oracle that see the same events, and a check of every value read. Components are
/// variables of their own to the oracle. Operations return whether all was right up to now.
class trial {
public:
  using word = recording_provider::word;

  /// Memories are opened at once, or each by the first routine that runs there.
  explicit trial(int memories, std::vector<oracle::variable> const& variables, bool opens = true, int components = 1)
      : provider(memories, components), book(provider, memories, components),
        program(each_component(variables, components)), variables_(variables), memories_(memories),
        components_(components) {
    std::size_t states = 0;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      first_states_.push_back(std::exchange(states, states + std::size_t(variables[v].levels * components)));
      provider.add(variables[v].levels, variables[v].bytes);
      (void)book.add("v" + std::to_string(v), variables[v].levels, variables[v].bytes);
      unsigned& regions = with_bytes_.emplace_back(0);
      for (kr::region one : kr::single_regions)
        if (variables[v].bytes[std::size_t(index_of(one))] != 0) regions |= unsigned(one);
    }
    for (int m = 0; opens && m < memories; ++m) book.open(kr::memory(m));
  }

  /// A routine in memory `where`: it is refused if the oracle says so, and reads what was written last. If a copy
  /// fails, the book claims nothing wrong, and the routine is tried again.
  bool run(int where, std::vector<oracle::access> const& list, by how = by::poisoned, kr::component_range range = {}) {
    kr::memory const m{std::uint8_t(where)};
    requests_.clear(), accesses_.clear();
    for (auto const& a : list) {
      requests_.push_back({a.variable, a.level, kr::region(a.needs), kr::region(a.changes & oracle::everywhere)});
      for (int c = range.begin, end = range.of(components_).end; c < end; ++c)
        accesses_.push_back({number_of(a.variable, c), a.level, a.needs, a.changes & oracle::everywhere});
    }
    bool const can = program.can(accesses_), waits = may_wait(m, how);
    long const waits_before = provider.waits;
    if (!bring(m, how, range)) return expect(!can || provider.failed_wait, "it was refused");
    if (!expect(can, "it was not refused")) return false;
    expect(waits || provider.waits == waits_before, "it waited for nothing");
    for (auto const& a : accesses_)
      expect(((in(a, m) ^ values_of(a.variable, a.level)) & mask_of(a.variable, a.needs)) == 0,
             "a read found something else");
    program.run(where, accesses_);
    if (how == by::failing) program.lose(accesses_);
    for (auto const& a : accesses_)
      provider.write(a.variable / components_, a.level, a.variable % components_, kr::region(a.changes), m,
                     values_of(a.variable, a.level));
    finish(m, how, range);
    return expect(provider.mistakes == 0, "a copy still under way was overtaken, or a batch was wrong");
  }
  bool exchange(int variable, int level) {
    return run(0, {{variable, level, oracle::rim, oracle::ghosts}}, by::exchange);
  }
  /// Output that declares nothing reads on the host what is there, of the current level or of all.
  bool copy_back(std::vector<int> const& variables, bool all_levels) {
    book.copy_back(variables, all_levels, "output", kr::every_component);
    accesses_.clear();
    for (int v : variables)
      for (int l = 0; l < (all_levels ? book.levels(v) : 1); ++l)
        for (int c = 0; c < components_; ++c) {
          oracle::access& a = accesses_.emplace_back(oracle::access{number_of(v, c), l, 0, 0});
          for (kr::region r : kr::single_regions)
            if (program.version(a.variable, l, index_of(r)) >= 0) a.needs |= unsigned(r);
          word const wrong = in(a, kr::host) ^ values_of(a.variable, l);
          expect((wrong & mask_of(a.variable, a.needs)) == 0, "output found something else");
        }
    program.run(0, accesses_);
    return expect(provider.mistakes == 0, "output overtook a copy");
  }
  /// A copy to the host that somebody will want, or not.
  void begin_to_host(int variable, int level, unsigned regions) {
    kr::request const one{variable, level, kr::region(regions), kr::region::none};
    book.begin_to_host({&one, 1}, "trial", {});
    ++begun;
  }
  void cycle(int variable) {
    book.cycle(variable);
    each_component_of(variable, [&](int v) { program.cycle(v); });
  }
  void rewind(int variable) {
    book.rewind(variable);
    each_component_of(variable, [&](int v) { program.rewind(v); });
  }
  void cycle_in_place(int variable) {
    book.cycle_in_place(variable);
    each_component_of(variable, [&](int v) { program.cycle_in_place(v); });
  }
  /// What was copied has the old number, which becomes the new one.
  void copy_from_past(int variable) {
    book.copy_from_past(variable);
    each_component_of(variable, [&](int v) {
      word const past = values_of(v, 1);
      program.copy_from_past(v);
      for (kr::region one : kr::single_regions)
        for (int m = 0; m < memories_; ++m) {
          word const mask = recording_provider::mask_of(one);
          word& here = provider.at(variable, 0, v % components_).in[std::size_t(m)];
          if (((here ^ past) & mask) == 0) here = (here & ~mask) | (values_of(v, 0) & mask);
        }
    });
  }
  /// An operation that is chosen by the numbers of `below(n)`, each from 0 to n - 1.
  bool play(auto const& below) {
    auto const read_wanted = [&](int variable) { // before it changes
      if (wanted_ && wanted_->variable == variable) run(0, {*std::exchange(wanted_, std::nullopt)});
    };
    int const count = int(variables_.size()), v = below(count), levels = variables_[std::size_t(v)].levels;
    auto const some_regions = [&] { return unsigned(1 + below(15)); };
    constexpr by ways[] = {by::prepared, by::list, by::poisoned, by::poisoned}; // poison that waits does not fail
    by const how = below(12) == 0 ? by::failing : ways[below(provider.waits_fail ? 2 : 4)];
    int const first = below(components_);
    kr::component_range const range{first, first + 1 + below(components_ - first)};
    int const operation = below(begins == early::none ? 10 : 11);
    if (operation < 4) read_wanted(v);
    switch (operation) {
    case 0: cycle(v); break;
    case 1: below(2) == 0 ? rewind(v) : cycle_in_place(v); break;
    case 2: exchange(v, below(levels)); break;
    case 3:
      if (levels > 1) copy_from_past(v);
      break;
    case 4: {
      std::vector<int> some{v};
      if (below(2) == 0)
        for (int other = 0; other < count; ++other)
          if (other != v) some.push_back(other);
      copy_back(some, below(2) == 0);
      break;
    }
    case 5: run(below(memories_), {{v, below(levels), some_regions(), 0}}, how, range); break; // an early copy
    case 6:
      if (below(4) == 0) settle();
      break;
    case 10: {
      oracle::access const one{v, below(levels), some_regions(), 0};
      bool can = true;
      each_component_of(v, [&](int c) { can = can && program.can({{c, one.level, one.needs}}); });
      if (begins == early::wanted && (wanted_ || !can)) break;
      begin_to_host(v, one.level, one.needs);
      if (begins == early::wanted) wanted_ = one;
      break;
    }
    default:
      std::vector<oracle::access> list;
      for (int k = 0; k < count; ++k) {
        int const what = below(4); // nothing, reads, writes, updates
        if (what == 0) continue;
        unsigned const where = some_regions();
        list.push_back({k, below(variables_[std::size_t(k)].levels), what != 2 ? where : 0, what != 1 ? where : 0});
        if (what != 1) read_wanted(k);
      }
      int const where = below(memories_);
      if (fails) provider.fails_in = below(3);
      run(where, list, how, range);
      provider.fails_in = -1;
    }
    if (!provider.failed_wait) expect_claims();
    return first_mistake.empty();
  }
  /// Lets all devices finish.
  bool settle() {
    if (wanted_) run(0, {*std::exchange(wanted_, std::nullopt)});
    for (int m = 1; m < memories_; ++m) provider.drain(kr::memory(m));
    return first_mistake.empty();
  }
  [[nodiscard]] bool is_minimal() const {
    oracle::bill const bill = program.make_bill();
    return bill.host_bytes() == provider.bytes_to_host && bill.device_bytes() == provider.bytes_to_device &&
           book.traffic().bytes(kr::way::to_host) == bill.host_bytes() &&
           book.traffic().bytes(kr::way::to_device) == bill.device_bytes();
  }

  recording_provider provider;
  kr::ledger<recording_provider> book;
  oracle::program program;
  bool fails = false; ///< some copies of `play` fail
  /// Whether `play` begins copies to the host: none, those that are read before they change, so that no byte is too
  /// many, or any.
  enum class early { none, wanted, any } begins = early::none;
  long begun = 0, failures = 0;
  std::string first_mistake;

private:
  /// What a variable's component is called by the oracle.
  [[nodiscard]] int number_of(int variable, int component) const { return variable * components_ + component; }
  bool expect(bool good, char const* what) {
    if (!good && first_mistake.empty()) first_mistake = what;
    return good;
  }
  bool expect_failure(std::string_view text, std::string_view of) {
    provider.failures = 0, ++failures;
    return expect(text.find(of) != text.npos && text.find("the bus is on fire") != text.npos &&
                      text.find('v') != text.npos,
                  "an error says too little");
  }
  /// The versions of a level's regions, as its memories have them.
  [[nodiscard]] word values_of(int number, int level) const {
    word values = 0;
    for (int k = 0; k < kr::region_count; ++k)
      values |= (word(program.version(number, level, k)) + 1) % 0xeeee << 16 * k;
    return values;
  }
  /// Calls `f(variable, level, component)`.
  template <class F>
  void for_each_state(F&& f) const {
    for (int v = 0; v < book.variables(); ++v)
      for (int l = 0; l < book.levels(v); ++l)
        for (int c = 0; c < components_; ++c) f(v, l, c);
  }
  /// What the book calls valid is there, and what is under way it knows.
  void expect_claims() {
    for_each_state([&](int v, int l, int c) {
      auto const& cell = provider.at(v, l, c);
      word const left = cell.leaving | cell.leaving >> 16 | cell.leaving >> 32 | cell.leaving >> 48;
      unsigned const devices = unsigned(left & 0xffU) | (cell.arriving.mask != 0 ? 1U << cell.arriving.from : 0U);
      expect((devices >> 1 & ~unsigned{flights(v, l, c)}) == 0, "a copy under way is not in the book");
      word const values = values_of(number_of(v, c), l);
      for (int m = 0; m < memories_; ++m) {
        unsigned const claimed = unsigned(kr::region_of(~book.at(v, l, c) >> m));
        word const wrong = provider.at(v, l, c).in[std::size_t(m)] ^ values;
        expect((wrong & mask_of(number_of(v, c), claimed)) == 0, "what the book calls valid is not");
      }
    });
  }
  /// The devices that the book thinks may be copying a level from the host or to it.
  [[nodiscard]] kr::copies_in_flight flights(int v, int l, int c) const {
    return book.in_flight()[first_states_[std::size_t(v)] + std::size_t(l * components_ + c)] & kr::all_copies;
  }
  /// Whether the host overwrites, in the next call, what may be leaving or arriving.
  [[nodiscard]] bool may_wait(kr::memory m, by how) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](oracle::access const& a) {
      bool is_host_written = a.changes != 0, leaves = false;
      for (int k = 0; k < kr::region_count; ++k) {
        unsigned const there = program.held(a.variable, a.level, k);
        bool const is_lacking = (a.needs >> k & 1U) != 0 && (there >> int(m) & 1U) == 0;
        is_host_written = is_host_written || (is_lacking && (there & 1U) == 0);
        leaves = leaves || (is_lacking && m != kr::host);
      }
      bool const flies = flights(a.variable / components_, a.level, a.variable % components_) != 0;
      return is_host_written && (flies || (leaves && how == by::poisoned));
    });
  }
  static std::vector<oracle::variable> each_component(std::vector<oracle::variable> const& variables, int components) {
    std::vector<oracle::variable> all;
    for (auto const& v : variables) all.insert(all.end(), std::size_t(components), v);
    return all;
  }
  void each_component_of(int variable, auto const& f) const {
    for (int c = 0; c < components_; ++c) f(number_of(variable, c));
  }
  [[nodiscard]] word in(oracle::access const& a, kr::memory m) {
    return provider.in(a.variable / components_, a.level, a.variable % components_, m);
  }
  // Those of `regions` that the variable has.
  [[nodiscard]] word mask_of(int number, unsigned regions) const {
    return recording_provider::mask_of(kr::region(regions & with_bytes_[std::size_t(number / components_)]));
  }
  bool bring(kr::memory m, by how, kr::component_range range) {
    try {
      if (how == by::exchange) book.pre_sync(requests_, range);
      else if (how == by::prepared) book.pre_call(call_ = book.prepare(requests_, m, "trial", range));
      else book.pre_call(requests_, m, "trial", range);
    } catch (keel::error const& e) {
      if (provider.failures == 0) return false;
      expect_failure(e.what(), how == by::exchange ? "exchange" : "trial");
      expect_claims();
      for_each_state([&](int v, int l, int c) { // but on a device that could not be waited for
        for (int k = 0; k < kr::region_count && !provider.failed_wait; ++k)
          for (int i = 0; i < memories_; ++i)
            expect((program.held(number_of(v, c), l, k) >> i & 1U) == 0 ||
                       book.is_valid(v, l, kr::single_regions[k], kr::memory(i), c),
                   "a failed copy took away what was valid");
      });
      return !provider.failed_wait && bring(m, how, range);
    }
    if (how == by::poisoned) book.poison(requests_, m, range);
    return true;
  }
  void finish(kr::memory m, by how, kr::component_range range) {
    if (how == by::exchange) book.post_sync(requests_, range);
    else if (how == by::prepared) book.post_call(call_);
    else if (how == by::failing) book.lose(requests_, range);
    else book.post_call(requests_, m, range);
  }

  std::optional<oracle::access> wanted_; // of a copy to the host that has begun
  std::vector<kr::request> requests_;
  std::vector<oracle::access> accesses_;
  kr::prepared call_;
  std::vector<oracle::variable> variables_;
  std::vector<unsigned> with_bytes_;      // the regions of each
  std::vector<std::size_t> first_states_; // by variable
  int memories_, components_;
};

} // namespace test
