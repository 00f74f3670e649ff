// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What fields know of the step that they are in.

#include <keel/impl/residency/fields_base.hpp>

#include <utility>

namespace keel::residency::detail {

// As long as it lives, a call from outside the step finds a row on which every test fails, so it takes the slow path,
// which refuses it.
template <class App>
struct fields_base<App>::step_scope {
  explicit step_scope(fields_base& b) : base(b), row(b.row_) {
    base.progress_ = {{}, nullptr, true};
    base.row_ = base.slow_row_.data();
  }
  ~step_scope() { // the step may have ended early
    base.apply_pending();
    base.progress_ = {};
    base.row_ = row;
  }
  step_scope(step_scope const&) = delete;
  step_scope& operator=(step_scope const&) = delete;

  fields_base& base;
  cell* row;
};

// Where a planned step ends early: brings the ledger to the step's position.
template <class App>
void fields_base<App>::apply_pending() {
  if (defers_updates && progress_.apply_pending != nullptr)
    std::exchange(progress_.apply_pending, nullptr)(ledger_.cells(), progress_.now);
}

// The cells at the step's position, which the ledger itself may not have yet.
template <class App>
cell const* fields_base<App>::current_row() const {
  if (!defers_updates || progress_.apply_pending == nullptr) return ledger_.cells();
  current_row_.assign(ledger_.cells(), ledger_.cells() + slow_row_.size() - row_padding);
  progress_.apply_pending(current_row_.data(), progress_.now);
  return current_row_.data();
}

template <class App>
bool fields_base<App>::is_valid(int variable, int level, region where, memory m, int which) const {
  if (!defers_updates || progress_.apply_pending == nullptr) return ledger_.is_valid(variable, level, where, m, which);
  std::size_t at = std::size_t(level);
  for (int v = 0; v < variable; ++v) at += std::size_t(ledger_.levels(v));
  return residency::is_valid(current_row()[at] & ~ledger_.empty(variable), where, m);
}

} // namespace keel::residency::detail
