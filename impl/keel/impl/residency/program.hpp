// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as fields run it: its table in the numbers of their variables, and functions that call its routines.

#include <keel/layout/grid.hpp>
#include <keel/impl/schedule/schedule_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace keel::residency::detail {

struct fields_state;
class any_observer;

/// What is called at a node. What no entry of the schedule needs is null. No pointers to members: nvcc with
/// --expt-relaxed-constexpr looks for those on the device.
struct action {
  void (*run)(fields_state&, request const* asked, component_range, bounds const* piece,
              void const* arguments) = nullptr;                  ///< `piece`: of a routine that is called for pieces
  decltype(run) run_bounded = nullptr;                           ///< the same in a run that is checked
  int (*decide)(fields_state&, void const* arguments) = nullptr; ///< of a condition
  void (*prepare)(fields_state&,
                  std::string_view routine) = nullptr; ///< of a device that is not at hand from the start
};

/// Which entry of a `choose` runs. Throws if there is none of that number.
[[nodiscard]] int chosen_of(std::int64_t number, std::size_t entries, std::string const& condition);

/// Constants of a program. The address of `actions` says which schedule it is.
struct schedule_view {
  schedule_nodes table;          ///< requests in the numbers of the fields
  memory const* where;           ///< of each node
  action const* actions;         ///< of each node
  void (*notify)(any_observer&); ///< the graph of the schedule, for an observer that wants it; may be null
};

/// What certain fields found out about a schedule, and about all that they ran. Only the bodies need them.
struct program;
class programs;

} // namespace keel::residency::detail
