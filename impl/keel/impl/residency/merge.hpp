// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The declarations of an entry, joined to one request for each level of a variable.

#include <keel/residency/routine.hpp>

#include <cstddef>

namespace keel::residency {

/// What a routine needs of one level of a variable, and what it will have written.
struct request {
  int variable = 0, level = 0;
  region reads = region::none, writes = region::none;
};

namespace detail {

/// Writes the requests of `e` to `out`, which has room for all its declarations, and returns how
/// many they are; `number_of(info)` says which variable is meant. A negative number is skipped.
template <class F>
constexpr std::size_t merge(entry const& e, request* out, F&& number_of) {
  std::size_t size = 0;
  for_each_access(e, [&](access const& a) {
    int const number = number_of(a.variable);
    if (number < 0) return;
    std::size_t at = 0;
    while (at < size && (out[at].variable != number || out[at].level != a.level)) ++at;
    if (at == size) out[size++] = {number, a.level, region::none, region::none};
    if (does_read(a.how)) out[at].reads = out[at].reads | a.where;
    if (does_write(a.how)) out[at].writes = out[at].writes | (a.where & region::everywhere);
  });
  return size;
}

/// Declarations of `e` and of all below it: no entry makes more requests than that.
constexpr std::size_t count_accesses(entry const& e) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < e.clause_count; ++i) n += e.clauses[i].size;
  for (std::size_t i = 0; i < e.child_count; ++i) n += count_accesses(*e.children[i]);
  return n;
}

} // namespace detail
} // namespace keel::residency
