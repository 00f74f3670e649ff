// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What fields found out about the schedules that they ran, and look up once. Bodies of program.hpp.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/impl/schedule/prefetch.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/ledger.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What certain fields found out about a schedule.
struct program {
  program(schedule_view const& v, fields_state const& fields);

  std::vector<request> requests; ///< of all nodes; see `requests_of`
  schedule_view what;
  prefetch_table prefetches;
  scratches scratch;
  bool has_pools = false; ///< the fields know its scratches
  struct node_state {
    std::optional<prepared> call; ///< of a routine that ran: its requests with their cells
    bool is_plain = false;        ///< a routine, and nothing begins or ends around it
  };
  std::vector<node_state> nodes;
  std::optional<prepared> whole; ///< of a schedule of routines: what they need before them, and do, together
  bool is_closed = false;        ///< nothing watches, and none of them reads what one before it leaves stale
};

/// The programs of certain fields, by schedule: a hash table with open addressing, at most half full.
class programs {
public:
  explicit programs(fields_state const& fields) : fields_(fields) {}
  [[nodiscard]] program& of(schedule_view const& what) {
    if (last_ != nullptr && last_->what.actions == what.actions) [[likely]]
      return *last_;
    return *(last_ = &find(what));
  }
  void clear() { last_ = nullptr, std::fill(slots_.begin(), slots_.end(), nullptr), all_.clear(); }

private:
  program& find(schedule_view const& what) {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t at = place_of(what.actions, mask); slots_[at] != nullptr; at = (at + 1) & mask)
      if (slots_[at]->what.actions == what.actions) [[likely]]
        return *slots_[at];
    return add(what);
  }
  [[nodiscard]] static std::size_t place_of(action const* key, std::size_t mask) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9e3779b97f4a7c15U >> 40 & mask;
  }
  program& add(schedule_view const& what);

  fields_state const& fields_;
  program* last_ = nullptr; ///< that ran last
  std::vector<program*> slots_ = std::vector<program*>(16);
  std::vector<std::unique_ptr<program>> all_;
};

// A read of more layers of ghosts than there are reaches beyond them. A mesh on one rank need not have any.
inline void check_layers(fields_state const& fields, schedule_node const& n, request const& asked) {
  int const there = fields.layers(asked.variable);
  bool const is_whole_mesh = there == 0 && fields.is_on_mesh(asked.variable);
  if (!calls_routine(n.what()) || !overlap(asked.reads, region::halo) || asked.read_layers == all_layers ||
      asked.read_layers <= there || is_whole_mesh)
    return;
  std::string const name(fields.ledger_.name(asked.variable));
  throw error("residency",
              "routine " + std::string(n.about->name) + " reads " + policy::counted(asked.read_layers, "layer") +
                  " of ghosts of " + name,
              name + " has " + std::to_string(there),
              "Give the grid, the partition or the variable as many, or say a smaller depth");
}

// Those of all nodes. A condition that keeps walls reads none if there are none at the sides that it leaves.
inline std::vector<request> requests_of(schedule_nodes const& table, fields_state const& fields) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.size; ++i) count = std::max<std::size_t>(count, table.nodes[i].last);
  std::vector<request> all(table.requests, table.requests + count);
  for (schedule_node const* n = table.nodes; n != table.nodes + table.size; ++n)
    for (request* one = all.data() + n->first; one != all.data() + n->last; ++one) {
      check_layers(fields, *n, *one);
      if (n->what() == entry_kind::walls)
        for (schedule_node const* same = n; same != n + n->together; ++same)
          for (wall_condition const* c = same->about->conditions; c->variable != nullptr; ++c)
            if (*c->variable == *table.variables[one->variable]) fields.check(*c, one->variable);
      if (n->what() == entry_kind::walls && overlap(one->writes, region::walls) &&
          sides_left(n, n->together, *one, *table.variables[one->variable], fields.wall_sides(one->variable),
                     fields.width(one->variable)) == 0)
        one->reads = without(one->reads, region::walls);
    }
  return all;
}

KEEL_INLINE program::program(schedule_view const& v, fields_state const& fields)
    : requests(requests_of(v.table, fields)),
      what{{v.table.nodes, v.table.size, requests.data(), v.table.variables}, v.where, v.actions, v.notify},
      prefetches(what.table, v.where), scratch(what.table, v.where), nodes(v.table.size) {
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
  all_.push_back(std::make_unique<program>(what, fields_));
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
