// SPDX-License-Identifier: MIT
/// @file
/// Every operation from every state that two variables of two levels can reach in three memories. What a ledger does to a
/// region does not ask about the others but for a write, which makes ghosts stale: ledger.cpp tries all states of three
/// regions at once. So here each region has its turn, and the joint states are few enough to be walked to the end.
#include <keel/residency/ledger.hpp>

#include "trial.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kr = keel::residency;
using test::trial;

namespace {

constexpr int memories = 3, variables = 2, levels = 2;

struct operation {
  enum class kind { run, cycle, copy_from_past } what;
  int where = 0; ///< memory, or the variable
  std::vector<oracle::access> list = {};
};

// All that a driver can do to the region: routines on one level or two, with a read, a write or an update of each.
std::vector<operation> operations_on(unsigned region) {
  std::vector<operation> all;
  std::vector<oracle::access> single;
  for (int v = 0; v < variables; ++v)
    for (int l = 0; l < levels; ++l)
      for (unsigned how = 1; how < 4; ++how) single.push_back({v, l, (how & 1) != 0 ? region : 0, (how & 2) != 0 ? region : 0});
  for (int m = 0; m < memories; ++m)
    for (std::size_t i = 0; i < single.size(); ++i) {
      all.push_back({operation::kind::run, m, {single[i]}});
      for (std::size_t j = 0; j < i; ++j)
        if (single[i].variable != single[j].variable || single[i].level != single[j].level)
          all.push_back({operation::kind::run, m, {single[i], single[j]}});
    }
  for (int v = 0; v < variables; ++v) {
    all.push_back({operation::kind::cycle, v});
    all.push_back({operation::kind::copy_from_past, v});
  }
  return all;
}

bool perform(trial& t, operation const& o) {
  if (o.what == operation::kind::cycle) return t.cycle(o.where), true;
  if (o.what == operation::kind::copy_from_past) return t.copy_from_past(o.where), true;
  return t.run(o.where, o.list);
}

// Where the region is valid, and which devices have something under way.
std::uint32_t state_of(trial const& t, kr::region region) {
  std::uint32_t key = 0;
  for (int v = 0; v < variables; ++v)
    for (int l = 0; l < levels; ++l)
      for (int m = 0; m < memories; ++m) key = key << 1 | std::uint32_t(t.book.is_valid(v, l, region, kr::memory(m)));
  for (int m = 1; m < memories; ++m) key = key << 1 | std::uint32_t(t.provider.pending(kr::memory(m)) != 0);
  return key;
}

struct outcome {
  std::size_t states = 0;
  long tried = 0, wrong = 0;
};

// Breadth first: each new state is found by the shortest way there, which is gone again for each operation.
outcome close(kr::region region) {
  std::vector<oracle::variable> const made(variables, {levels, {5, 7, 11}});
  std::vector<operation> const all = operations_on(unsigned(region));
  std::map<std::uint32_t, std::vector<std::uint16_t>> ways{{state_of(trial(memories, made), region), {}}};
  std::vector<std::uint32_t> frontier{ways.begin()->first};
  outcome out;
  for (std::size_t at = 0; at < frontier.size(); ++at)
    for (std::size_t o = 0; o < all.size(); ++o) {
      std::vector<std::uint16_t> way = ways.at(frontier[at]);
      trial t(memories, made);
      bool good = true;
      for (std::uint16_t step : way) good = perform(t, all[step]) && good;
      good = perform(t, all[o]) && good;
      std::uint32_t const key = state_of(t, region);
      way.push_back(std::uint16_t(o));
      if (ways.try_emplace(key, way).second) frontier.push_back(key);
      good = t.settle() && t.is_minimal() && good;
      ++out.tried;
      out.wrong += !good;
    }
  out.states = frontier.size();
  return out;
}

} // namespace

TEST_CASE("residency: every operation from every state that can be reached reads what was written, and moves no byte too many") {
  for (kr::region region : kr::single_regions) {
    outcome const found = close(region);
    CAPTURE(std::string(name_of(region)));
    MESSAGE(found.states << " states, " << found.tried << " operations");
    CHECK(found.states > 2'000);
    CHECK(found.wrong == 0);
  }
}
