// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as a flat program of constants: what a plan walks instead of a tree of types.

#include <keel/impl/residency/merge.hpp>
#include <keel/residency/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// One request of one occurrence of a routine; of a cycle, the first cell of one variable.
struct site {
  std::uint16_t cell = 0, variable = 0;
  memory where = host;
  region reads = region::none, writes = region::none;
  bool has_ghosts = true; ///< else all regions are the same bytes
};

/// One entry: a routine has sites, a condition or a repetition has a body, up to `next`.
struct instruction {
  entry_kind what = entry_kind::sequence;
  int count = 1;
  std::uint32_t first = 0, last = 0; ///< sites
  std::uint32_t next = 0;            ///< behind the body
};

constexpr std::size_t count_entries(entry const& e) {
  std::size_t n = 1;
  for (std::size_t i = 0; i < e.child_count; ++i) n += count_entries(*e.children[i]);
  return n;
}

/// Whether anything of `e` runs on the device chosen at the start.
constexpr bool asks_for_device(entry const& e) {
  if (e.where.what == place::kind::at_chosen || e.where.what == place::kind::at_exchange) return true;
  for (std::size_t i = 0; i < e.child_count; ++i)
    if (asks_for_device(*e.children[i])) return true;
  return false;
}

/// The numbers of the variables that `e`, and what is below it, writes.
template <class Directory>
std::vector<int> written_by(entry const& e) {
  std::vector<int> numbers;
  auto const look = [&](auto const& self, entry const& one) -> void {
    if (one.what == entry_kind::routine || one.what == entry_kind::exchange)
      for_each_access(one, [&](access const& a) {
        int const number = Directory::find(a.variable);
        if (does_write(a.how) && std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
      });
    for (std::size_t i = 0; i < one.child_count; ++i) self(self, *one.children[i]);
  };
  look(look, e);
  return numbers;
}

/// `Entries` and `Accesses` are upper bounds. Entries stand in the order of the tree, each group before what it
/// holds, so that types know the numbers of theirs.
template <std::size_t Entries, std::size_t Accesses>
struct program {
  static constexpr std::size_t entries = Entries, accesses = Accesses + 1;
  instruction code[Entries + 1]{};
  site sites[accesses]{};
  variable_info const* variables[accesses]{};
  std::uint16_t first_cell[accesses + 1]{};
  std::size_t size = 0, variable_count = 0;
  std::uint32_t site_count = 0;
  std::size_t dirtied = 0; ///< cells that a walk of the program changes, each as often as it does

  [[nodiscard]] constexpr std::size_t cells() const { return first_cell[variable_count]; }
  [[nodiscard]] constexpr int levels(site const& s) const { return first_cell[s.variable + 1] - first_cell[s.variable]; }

  constexpr int number_of(variable_info const* v) {
    std::size_t at = v->key % buckets;
    while (numbers[at] != 0 && *variables[numbers[at] - 1] != *v) at = (at + 1) % buckets;
    if (numbers[at] == 0) {
      std::size_t const n = variable_count++;
      variables[n] = v;
      first_cell[n + 1] = std::uint16_t(first_cell[n] + v->levels);
      numbers[at] = std::uint16_t(variable_count);
    }
    return numbers[at] - 1;
  }

  /// Appends `e`, and what it holds. `memory_of(place)` says where it runs.
  template <class F>
  constexpr void append(entry const& e, F const& memory_of) {
    std::size_t const here = size++;
    instruction made{e.what, e.count, site_count, 0, 0};
    if (e.what == entry_kind::cycle) {
      for_each_access(e, [&](access const& a) {
        int const v = number_of(a.variable);
        sites[site_count++] = {first_cell[v], std::uint16_t(v), host, region::none, region::none};
        dirtied += std::size_t(a.variable->levels);
      });
    } else if (e.clause_count != 0) {
      request list[max_requests]{};
      std::size_t const n = merge(e, list, [&](variable_info const* v) { return number_of(v); });
      dirtied += n;
      for (std::size_t i = 0; i < n; ++i)
        sites[site_count++] = {std::uint16_t(first_cell[list[i].variable] + list[i].level), std::uint16_t(list[i].variable),
                               memory_of(e.where), list[i].reads, list[i].writes, variables[list[i].variable]->has_ghosts};
    }
    made.last = site_count;
    for (std::size_t i = 0; i < e.child_count; ++i) append(*e.children[i], memory_of);
    made.next = std::uint32_t(size);
    code[here] = made;
  }

private:
  static constexpr std::size_t max_requests = Accesses + 1, buckets = 2 * accesses;
  std::uint16_t numbers[buckets]{}; // of variables, one more than that, by key
};

} // namespace keel::residency::detail
