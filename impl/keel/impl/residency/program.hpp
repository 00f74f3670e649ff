// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as fields run it: its table in the numbers of their variables, functions that call its routines, and what
/// the fields look up once.

#include <keel/impl/residency/prefetch.hpp>
#include <keel/impl/residency/schedule_table.hpp>
#include <keel/impl/residency/scratch.hpp>
#include <keel/residency/ledger.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

struct fields_state;
class any_observer;

/// What is called at a node. What no entry of the schedule needs is null. No pointers to members: nvcc with
/// --expt-relaxed-constexpr looks for those on the device.
struct action {
  void (*run)(fields_state&, request const* asked, component_range, bounds const* piece,
              void const* arguments) = nullptr;                  ///< `piece`: of a routine that is called for pieces
  int (*answer)(fields_state&, void const* arguments) = nullptr; ///< of a condition
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

/// What certain fields found out about a schedule.
struct program {
  explicit program(schedule_view const& v);

  schedule_view what;
  prefetch_table prefetches;
  scratches scratch;
  bool has_pools = false; ///< the fields know its scratches
  struct node_state {
    std::optional<prepared> call; ///< of a routine that ran: its requests with their cells
    bool is_plain = false;        ///< a routine, and nothing begins or ends around it
  };
  std::vector<node_state> nodes;
};

/// The programs of certain fields, by schedule: a hash table with open addressing, at most half full.
class programs {
public:
  [[nodiscard]] program& of(schedule_view const& what) {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t at = place_of(what.actions, mask); slots_[at] != nullptr; at = (at + 1) & mask)
      if (slots_[at]->what.actions == what.actions) [[likely]]
        return *slots_[at];
    return add(what);
  }

private:
  [[nodiscard]] static std::size_t place_of(action const* key, std::size_t mask) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9e3779b97f4a7c15U >> 40 & mask;
  }
  program& add(schedule_view const& what);

  std::vector<program*> slots_ = std::vector<program*>(16);
  std::vector<std::unique_ptr<program>> all_;
};

} // namespace keel::residency::detail
