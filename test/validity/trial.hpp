// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A ledger beside the oracle.

#include "recording_provider.hpp"

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>

#include <support/oracle.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A ledger, its provider and an oracle that see the same events, and a check of every value read.
class trial {
public:
  /// Memories are opened at once, or each by the first routine that runs there.
  trial(int memories, std::vector<oracle::variable> const& variables, bool opens = true)
      : provider(memories), book(provider, memories), program(variables), variables_(variables), memories_(memories) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
      provider.add(variables[v].levels, variables[v].bytes);
      (void)book.add("v" + std::to_string(v), variables[v].levels, variables[v].bytes);
    }
    for (int m = 0; opens && m < memories; ++m) book.open(kr::memory(m));
  }

  /// True where the ledger agrees with the oracle about whether the routine can run, and no kernel has
  /// read another version than it should.
  bool run(int where, std::vector<oracle::access> const& accesses) {
    requests_.clear();
    for (auto const& a : accesses)
      requests_.push_back({a.variable, a.level, kr::region(a.needs), kr::region(a.changes & oracle::everywhere)});
    kr::memory const m{std::uint8_t(where)};
    bool const can = program.can(accesses);
    kr::prepared call;
    try {
      if (prepares) book.pre_call(call = book.prepare(requests_, m, "trial"));
      else book.pre_call(requests_, m, "trial");
    } catch (keel::error const&) {
      return !can;
    }
    if (!can) return false;
    for (auto const& a : accesses)
      each_region(a, a.needs, [&](kr::region r) {
        if (int const version = program.version(a.variable, a.level, index_of(r)); version >= 0)
          provider.read(a.variable, a.level, r, m, version);
      });
    book.poison(requests_, m, {});
    if (prepares) book.post_call(call);
    else book.post_call(requests_, m);
    program.run(where, accesses);
    for (auto const& a : accesses)
      each_region(a, a.changes, [&](kr::region r) {
        provider.write(a.variable, a.level, r, m, program.version(a.variable, a.level, index_of(r)));
      });
    return provider.mistakes == 0;
  }
  bool exchange(int variable, int level) {
    kr::request const one{variable, level, kr::region::rim, kr::region::ghosts};
    std::vector<oracle::access> const list{{variable, level, oracle::rim, oracle::ghosts}};
    bool const can = program.can(list);
    try {
      book.pre_sync({&one, 1});
    } catch (keel::error const&) {
      return !can;
    }
    return run(0, list) && can == program.can(list);
  }
  /// Output that declares nothing reads on the host what is there, of the current level or of all.
  bool copy_back(std::vector<int> const& variables, bool all_levels) {
    std::vector<oracle::access> list;
    for (int v : variables)
      for (int l = 0; l < (all_levels ? book.levels(v) : 1); ++l) {
        list.push_back({v, l, 0, 0});
        for (kr::region r : kr::single_regions)
          if (program.version(v, l, index_of(r)) >= 0) list.back().needs |= unsigned(r);
      }
    book.copy_back(variables, all_levels, "output");
    for (auto const& a : list)
      each_region(a, a.needs, [&](kr::region r) {
        provider.read(a.variable, a.level, r, kr::host, program.version(a.variable, a.level, index_of(r)));
      });
    program.run(0, list);
    return provider.mistakes == 0;
  }
  /// A copy to the host that somebody will want, or not.
  void begin_to_host(int variable, int level, unsigned regions) {
    kr::request const one{variable, level, kr::region(regions), kr::region::none};
    book.begin_to_host({&one, 1}, "trial", {});
    ++begun;
  }
  void cycle(int variable) {
    book.cycle(variable);
    program.cycle(variable);
  }
  void rewind(int variable) {
    book.rewind(variable);
    program.rewind(variable);
  }
  void cycle_in_place(int variable) {
    book.cycle_in_place(variable);
    program.cycle_in_place(variable);
  }
  void copy_from_past(int variable) {
    book.copy_from_past(variable);
    program.copy_from_past(variable);
    settle();
    for (kr::region r : kr::single_regions)
      for (int m = 0; m < memories_; ++m)
        if (book.is_open(kr::memory(m)) &&
            provider.at(variable, 0, 0, r, kr::memory(m)) == program.version(variable, 1, index_of(r)))
          provider.at(variable, 0, 0, r, kr::memory(m)) = program.version(variable, 0, index_of(r));
  }
  /// An operation that is chosen by the numbers of `below(n)`, each from 0 to n - 1; whether ledger and oracle agree.
  bool play(auto const& below) {
    bool good = true;
    auto const read_wanted = [&](int variable) { // before it changes
      if (wanted_ && wanted_->variable == variable) good = run(0, {*std::exchange(wanted_, std::nullopt)}) && good;
    };
    int const count = int(variables_.size()), v = below(count), levels = variables_[std::size_t(v)].levels;
    auto const some_regions = [&] { return unsigned(1 + below(15)); };
    prepares = below(2) != 0;
    int const operation = below(begins == early::none ? 10 : 11);
    if (operation < 4) read_wanted(v);
    switch (operation) {
    case 0: cycle(v); return good;
    case 1: below(2) == 0 ? rewind(v) : cycle_in_place(v); return good;
    case 2: return exchange(v, below(levels)) && good;
    case 3:
      if (levels > 1) copy_from_past(v);
      return good;
    case 4: {
      std::vector<int> some{v};
      if (below(2) == 0)
        for (int other = 0; other < count; ++other)
          if (other != v) some.push_back(other);
      return copy_back(some, below(2) == 0);
    }
    case 5: return run(below(memories_), {{v, below(levels), some_regions(), 0}}); // an early copy
    case 6: return below(4) != 0 || settle();
    case 10: {
      oracle::access const one{v, below(levels), some_regions(), 0};
      if (begins == early::wanted && (wanted_ || !program.can({one}))) return true;
      begin_to_host(v, one.level, one.needs);
      if (begins == early::wanted) wanted_ = one;
      return true;
    }
    default:
      std::vector<oracle::access> list;
      for (int k = 0; k < count; ++k) {
        int const how = below(4); // nothing, reads, writes, updates
        if (how == 0) continue;
        unsigned const where = some_regions();
        list.push_back({k, below(variables_[std::size_t(k)].levels), how != 2 ? where : 0, how != 1 ? where : 0});
        if (how != 1) read_wanted(k);
      }
      int const where = below(memories_);
      if (fails) provider.fails_in = below(3);
      bool ran = run(where, list);
      if (fails && provider.fails_in < 0) ran = run(where, list), ++failures; // the next try finds everything
      provider.fails_in = -1;
      return ran && good;
    }
  }
  /// Lets all devices finish; whether all kernels have read what they should.
  bool settle() {
    if (wanted_ && !run(0, {*std::exchange(wanted_, std::nullopt)})) return false;
    for (int m = 1; m < memories_; ++m) provider.drain(kr::memory(m));
    return provider.mistakes == 0;
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
  bool prepares = false; ///< lists are looked up before they are used
  bool fails = false;    ///< some copies of `play` fail
  /// Whether `play` begins copies to the host: none, those that are read before they change, so that no byte is too
  /// many, or any.
  enum class early { none, wanted, any } begins = early::none;
  long begun = 0, failures = 0;

private:
  // Those of `regions` that the variable has.
  template <class F>
  void each_region(oracle::access const& a, unsigned regions, F&& f) const {
    for (kr::region one : kr::single_regions)
      if (overlap(one, kr::region(regions)) &&
          variables_[std::size_t(a.variable)].bytes[std::size_t(index_of(one))] != 0)
        f(one);
  }
  std::optional<oracle::access> wanted_; // of a copy to the host that has begun
  std::vector<kr::request> requests_;
  std::vector<oracle::variable> variables_;
  int memories_;
};

} // namespace test
