// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the book does for output that declares nothing.

#include <keel/residency/ledger.hpp>

#include <vector>

namespace keel::residency {

template <Provider P, Observer O>
std::vector<int> ledger<P, O>::find_all(std::string_view text) const {
  std::vector<names> known;
  for (std::size_t v = 0; v < variables_.size(); ++v) known.push_back({name(int(v)), variables_[v].group});
  std::vector<bool> const is_chosen = chosen_by(text, known);
  std::vector<int> numbers;
  for (std::size_t v = 0; v < is_chosen.size(); ++v)
    if (is_chosen[v]) numbers.push_back(int(v));
  return numbers;
}

template <Provider P, Observer O>
void ledger<P, O>::copy_back(std::span<int const> variables, bool all_levels, std::string_view output, component_range range) {
  open(host);
  std::vector<request> list;
  for (int c = range.begin, end = range.of(components_).end; c < end; ++c) {
    list.clear();
    for (int v : variables)
      for (int l = 0; l < (all_levels ? levels(v) : 1); ++l) {
        region somewhere = region::none;
        for (region one : single_regions)
          if (source_of(at(v, l, c), one) != memory::none) somewhere = somewhere | one;
        list.push_back({v, l, somewhere, region::none});
      }
    acquire(list, host, output, {c, c + 1});
  }
}

} // namespace keel::residency
