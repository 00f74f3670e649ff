// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields look up a schedule once, and which entry is chosen. Bodies of program.hpp.

#include <keel/impl/residency/program.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace keel::residency::detail {

KEEL_INLINE program::program(schedule_view const& v)
    : what(v), prefetches(v.table, v.where), scratch(v.table, v.where), nodes(v.table.size) {
  for (std::size_t i = 0; i < v.table.size; ++i) {
    schedule_node const& n = v.table.nodes[i];
    nodes[i].is_plain = n.what() == entry_kind::routine && n.about->value_count == 0 &&
                        v.actions[i].prepare == nullptr && n.finishes == no_node && n.overlaps == no_node &&
                        n.finishes_last == no_node && n.begins == no_node && prefetches.of(i).empty();
    for (request const& r : v.table.asked(i))
      if (v.table.is_scratch(r)) nodes[i].is_plain = false;
  }
}

KEEL_INLINE program& programs::add(schedule_view const& what) {
  all_.push_back(std::make_unique<program>(what));
  if (2 * all_.size() > slots_.size()) slots_.assign(2 * slots_.size(), nullptr);
  std::size_t const mask = slots_.size() - 1;
  for (auto const& each : all_) { // those that stand already are found again
    std::size_t at = place_of(each->what.actions, mask);
    while (slots_[at] != nullptr && slots_[at] != each.get()) at = (at + 1) & mask;
    slots_[at] = each.get();
  }
  return *all_.back();
}

KEEL_INLINE int chosen_of(std::int64_t number, std::size_t entries, std::string const& condition) {
  if (number < 0 || number >= std::int64_t(entries))
    throw error("residency::choose", "there is no entry " + std::to_string(number),
                condition + " chose it, and the entries are 0 to " + std::to_string(entries - 1),
                "Return the number of one of them");
  return int(number);
}

} // namespace keel::residency::detail
