// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as data: its nodes, and what is called at each.

#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/layout/grid.hpp>
#include <keel/validity/concepts.hpp>

#include <memory>
#include <string_view>

namespace keel::residency::detail {

class any_observer;
struct fields_state;

/// What is called at a node. What no entry of the schedule needs is null. No pointers to members: nvcc with
/// --expt-relaxed-constexpr looks for those on the device.
struct action {
  void (*run)(fields_state&, request const* asked, component_range, bounds const* piece,
              void const* arguments) = nullptr;                  ///< `piece`: of a routine that is called for pieces
  decltype(run) run_bounded = nullptr;                           ///< the same in a run that is checked
  int (*decide)(fields_state&, void const* arguments) = nullptr; ///< of a condition
  void (*prepare)(fields_state&,
                  std::string_view routine) = nullptr; ///< of a device that is not at hand from the start
  bool (*keeps)(std::shared_ptr<void const>& kept,
                void const* arguments) = nullptr; ///< of a graph: whether `kept` are these, or keeps them if null
};

/// Constants. The address of `actions` says which schedule it is.
struct schedule_view {
  schedule_nodes table;          ///< requests in the numbers of the fields
  memory const* where;           ///< of each node
  action const* actions;         ///< of each node
  void (*notify)(any_observer&); ///< the graph of the schedule, for an observer that wants it; may be null
};

} // namespace keel::residency::detail
