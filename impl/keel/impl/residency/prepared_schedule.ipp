// SPDX-License-Identifier: MIT
#include <keel/impl/residency/prepared_schedule.hpp>
#include <keel/impl/residency/steps/recordings.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/walls.hpp>

#include <string>

namespace keel::residency::detail {

// A read of more layers of ghosts than there are reaches beyond them.
inline void check_layers(arrays const& on, schedule_node const& n, request const& asked) {
  if (!calls_routine(n.what()) || !overlap(asked.reads, region::halo) || asked.read_layers == all_layers ||
      on.lattice_of(asked.variable)->has_layers(asked.read_layers))
    return;
  std::string const name(on.variables()[std::size_t(asked.variable)].about->name);
  throw error("residency",
              "routine " + std::string(n.about->name) + " reads " + policy::counted(asked.read_layers, "layer") +
                  " of ghosts of " + name,
              name + " has " + std::to_string(on.layers(asked.variable)),
              "Give the grid, the partition or the variable as many, or say a smaller depth");
}

// Those of all nodes. A condition that keeps walls reads none if there are none at the sides that it leaves.
inline std::vector<request> requests_of(schedule_nodes const& table, arrays const& on) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.size; ++i) count = std::max<std::size_t>(count, table.nodes[i].last);
  std::vector<request> all(table.requests, table.requests + count);
  for (schedule_node const* n = table.nodes; n != table.nodes + table.size; ++n)
    for (request* one = all.data() + n->first; one != all.data() + n->last; ++one) {
      check_layers(on, *n, *one);
      if (n->what() == entry_kind::walls)
        for (schedule_node const* same = n; same != n + n->together; ++same)
          for (wall_condition const* c = same->about->conditions; c->variable != nullptr; ++c)
            if (*c->variable == *table.variables[one->variable]) check_condition(on, *c, one->variable);
      if (n->what() == entry_kind::walls && overlap(one->writes, region::walls) &&
          sides_left(n, n->together, *one, *table.variables[one->variable], on.wall_sides(one->variable),
                     on.width(one->variable)) == 0)
        one->reads = without(one->reads, region::walls);
    }
  return all;
}

KEEL_INLINE prepared_schedule::prepared_schedule(schedule_view const& v, arrays const& on)
    : requests(requests_of(v.table, on)),
      what{{v.table.nodes, v.table.size, requests.data(), v.table.variables}, v.where, v.actions, v.notify},
      prefetches(what.table, v.where), scratch(what.table, v.where), nodes(v.table.size) {
  for (std::size_t i = 0; i < v.table.size; ++i) {
    schedule_node const& n = v.table.nodes[i];
    nodes[i].is_plain = n.what() == entry_kind::routine && n.about->value_count == 0 &&
                        v.actions[i].prepare == nullptr && n.finishes == no_node && n.overlaps == no_node &&
                        n.finishes_last == no_node && n.begins == no_node && prefetches.of(i).empty();
    for (request const& r : v.table.asked(i))
      if (v.table.is_scratch(r)) nodes[i].is_plain = false;
    if (n.what() != entry_kind::graph) continue;
    std::vector<memory> all;
    for (std::size_t k = i; k < n.end; ++k) {
      if (has_place(v.table.nodes[k].what())) all.push_back(v.where[k]);
      if (v.table.nodes[k].what() == entry_kind::all_reduce) nodes[i].combines_values = true;
    }
    if (!all.empty())
      nodes[i].runs_in =
          std::count(all.begin(), all.end(), all[0]) == std::ptrdiff_t(all.size()) ? all[0] : memory::none;
  }
}

KEEL_INLINE prepared_schedule::~prepared_schedule() = default;

KEEL_INLINE prepared_schedule& schedule_cache::add(schedule_view const& what) {
  all_.push_back(std::make_unique<prepared_schedule>(what, arrays_));
  if (2 * all_.size() > slots_.size()) slots_.assign(2 * slots_.size(), nullptr);
  std::size_t const mask = slots_.size() - 1;
  for (auto const& each : all_) { // those that stand already are found again
    std::size_t at = place_of(each->what.actions, mask);
    while (slots_[at] != nullptr && slots_[at] != each.get()) at = (at + 1) & mask;
    slots_[at] = each.get();
  }
  return *all_.back();
}

KEEL_INLINE std::vector<schedule_nodes> schedule_cache::steps() const {
  std::vector<schedule_nodes> made = steps_;
  for (schedule_nodes& each : made)
    for (auto const& known : all_)
      if (known->what.table.nodes == each.nodes) each = known->what.table; // which knows the walls
  return made;
}

KEEL_INLINE void schedule_cache::add_step(schedule_nodes const& table) {
  for (schedule_nodes const& each : steps_)
    if (each.nodes == table.nodes) return;
  steps_.push_back(table);
}

} // namespace keel::residency::detail
