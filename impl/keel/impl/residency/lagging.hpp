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

// A call from outside the step finds a row on which no test succeeds, so it takes the slow path, which refuses it.
template <class App>
struct holdings<App>::step_in_progress {
  explicit step_in_progress(holdings& h) : held(h), row(h.row_) {
    held.lag_ = {0, nullptr, true};
    held.row_ = held.closed_row_.data();
  }
  ~step_in_progress() { // the step may have ended early
    held.catch_up();
    held.lag_ = {};
    held.row_ = row;
  }
  step_in_progress(step_in_progress const&) = delete;
  step_in_progress& operator=(step_in_progress const&) = delete;

  holdings& held;
  cell* row;
};

// Where a step ends early: the book as it is there.
template <class App>
void holdings<App>::catch_up() {
  if (may_lag && lag_.catch_up != nullptr) std::exchange(lag_.catch_up, nullptr)(book_.cells(), lag_.now);
}

// The cells as they are at this moment of a step, which the book itself may not have yet.
template <class App>
cell const* holdings<App>::current_row() const {
  if (!may_lag || lag_.catch_up == nullptr) return book_.cells();
  caught_up_.assign(book_.cells(), book_.cells() + closed_row_.size() - row_padding);
  lag_.catch_up(caught_up_.data(), lag_.now);
  return caught_up_.data();
}

// Asked by a routine in the midst of such a step: by the book of that moment.
template <class App>
bool holdings<App>::is_valid(int variable, int level, region where, memory m, int which) const {
  if (!may_lag || lag_.catch_up == nullptr) return book_.is_valid(variable, level, where, m, which);
  cell const* const row = current_row();
  std::size_t at = std::size_t(level);
  for (int v = 0; v < variable; ++v) at += std::size_t(book_.levels(v));
  return residency::is_valid(row[at] & ~book_.empty(variable), where, m);
}

// In a step by a plan the call would change what the plan relies on; in others it is refused as well, so that a mistake shows
// in the first step.
template <class App>
void holdings<App>::require_idle(std::string_view who) const {
  if (lag_.is_in_step)
    throw error("residency", std::string(who) + " is called for in the midst of a step", "the step goes by a plan of its schedule, "
                "which does not know of it", "Make it an entry of the schedule, or call for it behind the step");
}

} // namespace keel::residency::detail
