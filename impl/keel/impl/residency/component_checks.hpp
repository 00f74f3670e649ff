// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which calls fields refuse because of where, or of which components, they are made. Bodies of fields_state.hpp.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/policy/error.hpp>

#include <string>
#include <string_view>

namespace keel::residency::detail {

// A step runs a plan of its schedule: copies that begin early and exchanges in flight rely on it.
KEEL_INLINE void fields_state::require_idle(std::string_view who) const {
  if (is_in_step_)
    throw error("residency", std::string(who) + " was called inside a step", "the running schedule does not contain it",
                "Add it to the schedule, or call it after step() returns");
}

KEEL_INLINE void fields_state::keep_ledger(bool tracks) {
  if (!tracks && ledger_.memories() > 1)
    throw error("residency::off", "nothing would be copied", "the list has a device with memory of its own",
                "Take tracking automatic");
  keeps_ledger_ = tracks;
}

KEEL_INLINE void fields_state::require_tracked(std::string_view who) const {
  if (!keeps_ledger_)
    throw error("residency", std::string(who) + " cannot be answered", "tracking is off", "Take tracking automatic");
}

KEEL_INLINE void fields_state::check(component which, component_range of, std::string_view routine) const {
  auto const refuse = [&](std::string const& why, std::string_view hint) {
    throw error("residency", "routine " + std::string(routine) + " wants component " + std::to_string(which.index), why,
                hint);
  };
  if (which.index < 0 || which.index >= components())
    refuse("there are " + std::to_string(components()), "Ask for an existing one");
  if (has_blocks_ && (which.index < of.begin || which.index >= of.end))
    throw error("residency",
                "routine " + std::string(routine) + " wants component " + std::to_string(which.index - of.begin),
                "it is called for each block, which is its component 0", "Leave the component out");
  if (which.index < of.begin || which.index >= of.end)
    refuse("it runs for component " + std::to_string(of.begin) + " only, so the others are neither copied nor marked",
           "Run it for all components");
}

KEEL_INLINE void fields_state::require_one_call(component_range range, std::string_view routine) const {
  if (range.of(components()).end - range.begin > 1)
    throw error("residency", "routine " + std::string(routine) + " returns a value, and is called for each block",
                "one value is not kept of " + std::to_string(components()),
                "Make it a reduce, or run it for a component");
}

KEEL_INLINE void fields_state::require_all_blocks(component_range range, std::string_view entry) const {
  if (has_blocks_ && range.of(components()).end - range.begin < components())
    throw error("residency", std::string(entry) + " is run for block " + std::to_string(range.begin) + " only",
                "it is a neighbour of the others", "Run it for all");
}

} // namespace keel::residency::detail
