// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields leave their book behind in a step by a plan, and bring it up to date.

#include <keel/impl/residency/holdings.hpp>
#include <keel/policy/error.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// From here on nobody marks what the plan knows, but where somebody looks all the time. Whoever comes by another way
// finds a closed row.
template <class App>
void holdings<App>::begin_planned(void (*to)(cell*, moment)) {
  lag_ = {0, may_lag && !poisons_ ? to : nullptr, true};
  row_ = closed_row_.data();
}

template <class App>
void holdings<App>::end_planned(cell* row) {
  lag_ = {};
  row_ = row;
}

// Where a step ends early: the book as it is there.
template <class App>
void holdings<App>::catch_up() {
  if (may_lag && lag_.catch_up != nullptr) std::exchange(lag_.catch_up, nullptr)(book_.cells(), lag_.now);
}

// Asked by a routine in the midst of such a step: by the book of that moment.
template <class App>
bool holdings<App>::is_valid(int variable, int level, region where, memory m, int which) const {
  if (!may_lag || lag_.catch_up == nullptr) return book_.is_valid(variable, level, where, m, which);
  std::vector<cell> row(book_.cells(), book_.cells() + closed_row_.size() - row_padding);
  lag_.catch_up(row.data(), lag_.now);
  std::size_t at = std::size_t(level);
  for (int v = 0; v < variable; ++v) at += std::size_t(book_.levels(v));
  return residency::is_valid(cell(row[at] & ~book_.empty(variable)), where, m);
}

// A routine that changes by another way what the plan of its step relies on would be told lies.
template <class App>
void holdings<App>::require_idle(std::string_view who) const {
  if constexpr (keeps_book && lanes::size != 0)
    if (lag_.is_in_step)
      throw error("residency", std::string(who) + " is called for in the midst of a step", "the step goes by a plan, which does not "
                  "know of it", "Make it an entry of the schedule, or call for it behind the step");
}

} // namespace keel::residency::detail
