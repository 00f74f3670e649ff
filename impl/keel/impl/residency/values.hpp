// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// When the values of reductions are combined and waited for, whatever their types. Bodies of fields_state.hpp.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/policy/error.hpp>

#include <string>

namespace keel::residency::detail {

KEEL_INLINE void fields_state::begin_reduction(value_info const& what) {
  kept_value& value = *find_value(what); // made by the routine's call
  value.is_under_way = true;
  value.begin(value.held.get());
}

KEEL_INLINE void fields_state::finish_reductions(entry const* reader) {
  for (auto const& value : values_) {
    if (!value->is_under_way || (reader != nullptr && !reader->reads_value(value->about))) continue;
    any_observer& observer = ledger_.observer();
    profiling_region const region(observer.tool(), "reduce, its end ", value->about->name);
    auto const finish = [&] { value->finish(); };
    observer.reduce(value->about->name, thunk::of(finish));
  }
}

KEEL_INLINE kept_value* fields_state::find_value(value_info const& what) const {
  for (auto const& value : values_)
    if (value->about == &what) return value.get();
  return nullptr;
}

KEEL_INLINE void const* fields_state::value_of(value_info const& what) const {
  kept_value* const value = find_value(what);
  if (value != nullptr) value->finish();
  if (value == nullptr || !value->is_there)
    throw error("residency", "reduction " + std::string(what.name) + " has no value",
                "no step or run has made it, or " + std::string(what.routine) + " failed", "Run it before it is read");
  return value->held.get();
}

} // namespace keel::residency::detail
