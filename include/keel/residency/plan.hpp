// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule followed to its steady state while compiling: the copies it makes, and the reads that
/// need no test.

#include <keel/impl/residency/arrears.hpp>
#include <keel/impl/residency/certain.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/program.hpp>
#include <keel/impl/residency/steady.hpp>
#include <keel/residency/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keel::residency {

namespace detail {
template <class Plan>
struct explained;
} // namespace detail

/// What `Schedule` does in an application whose routines `on_device` run on `Device`.
///
/// The schedule is taken to be all that happens, step after step; what it does not write was
/// written on the host before. Constants: no run-time state, no code.
template <class App, class Schedule, class Device>
class plan {
  template <class>
  friend struct detail::explained;
  using devices = detail::devices_of<App>;
  static_assert(policy::contains<devices, Device>, "keel::residency::plan: a device that is not in the application's list. "
                                                   "Add it there?");
  static constexpr std::size_t entries = detail::count_entries(Schedule::about);
  static constexpr std::size_t accesses = detail::count_accesses(Schedule::about);
  using program_type = detail::program<entries, accesses>;

  static constexpr memory memory_at(place const& where) { return detail::memory_at<App, devices, Device>(where); }
  static constexpr program_type program = [] {
    program_type p;
    p.append(Schedule::about, memory_at);
    return p;
  }();
  static constexpr std::size_t cells = program.cells();
  static constexpr bool is_small = detail::lanes_of<devices>::size < std::size_t{detail::max_planned_memories};
  static constexpr auto steady = [] {
    if constexpr (is_small) return detail::simulation<program_type, cells>(program).find();
    else return detail::steady<cells>{};
  }();
  static constexpr auto certain = [] {
    if constexpr (is_small)
      if (steady.period != 0) return detail::certain_walk<program_type, cells>(program, steady.may_be_stale).find();
    return detail::certainty<program_type::accesses, cells>{};
  }();
  using arrears_walk = detail::arrears_walk<program_type, cells>;
  static constexpr auto payments = [] {
    detail::payments<entries, program.dirtied> made;
    arrears_walk(program, certain).run([&](detail::moment when, detail::arrear const& one) { made.add(when, one); });
    return made;
  }();

public:
  /// Whether the states of the schedule repeat; always so for fewer than five memories.
  static constexpr bool is_steady = steady.period != 0;
  /// Steps before the steady state, and steps after which it repeats.
  static constexpr std::int64_t transient = steady.transient, period = steady.period;

  /// Copies in one period of the steady state: triples of variable, level and region; what does
  /// not lie on the grid is all core. With a condition (`when`), those that are possible. `device` is the
  /// memory of `Device`.
  [[nodiscard]] static constexpr std::int64_t copies(memory from, memory to, region where = region::everywhere) {
    memory const a = from == device ? detail::memory_of<devices, Device> : from;
    memory const b = to == device ? detail::memory_of<devices, Device> : to;
    std::int64_t sum = 0;
    if (int(a) >= detail::max_planned_memories || int(b) >= detail::max_planned_memories) return 0;
    for (region one : single_regions)
      if (overlap(one, where)) sum += steady.period_copies.copies[int(a)][int(b)][index_of(one)];
    return sum;
  }

  /// Of request `i` of entry number `at` (the schedule is 0, groups stand before what they hold): the regions that
  /// are there for certain.
  [[nodiscard]] static constexpr region known(std::size_t at, std::size_t i) { return certain.known[program.code[at].first + i]; }
  /// Whether a copy of its variable may be leaving from the host there.
  [[nodiscard]] static constexpr bool may_leave(std::size_t at, std::size_t i) {
    return certain.leaves[program.sites[program.code[at].first + i].variable];
  }
  /// Whether entry number `at` reads ghosts that nobody filled since their owners wrote.
  [[nodiscard]] static constexpr bool lacks_exchange(std::size_t at) {
    detail::instruction const& in = program.code[at];
    return steady.lost_site >= int(in.first) && steady.lost_site < int(in.last) && steady.lost_region == region::halo;
  }
  /// The variable whose region is lost there.
  [[nodiscard]] static constexpr variable_info const* lost_variable() { return program.variables[program.sites[steady.lost_site].variable]; }
  /// Calls `f(variable, level, bits)` for each cell that has to be clear of bits before a step.
  template <class F>
  static constexpr void for_each_need(F&& f) {
    for (std::size_t v = 0; v < program.variable_count; ++v)
      for (int l = 0; l < program.variables[v]->levels; ++l)
        if (cell const bits = certain.needed[program.first_cell[v] + l]; bits != 0) f(program.variables[v], l, bits);
  }
  /// Calls `f(variable)` for each whose copies have to have ended when the step begins: that the host writes though none of
  /// it leaves, or whose levels cycle though no copy of it begins in the step.
  template <class F>
  static constexpr void for_each_settled(F&& f) {
    for (std::size_t v = 0; v < program.variable_count; ++v)
      if ((certain.is_written_at_home[v] && !certain.leaves[v]) || (certain.cycles[v] && !certain.leaves[v] && !certain.arrives[v]))
        f(program.variables[v]);
  }

  /// What the book has to be paid at each moment of a step in which nobody marks; cells count by this plan.
  static constexpr auto const& paid = payments;
  [[nodiscard]] static constexpr bool pays(detail::moment when) { return paid.at[when].first != paid.at[when].last; }
  static constexpr detail::moment end_of_step = detail::before(program.size);
  static constexpr std::size_t cell_count = cells;
  /// Calls `f(arrear)` for what is owed at a moment. At run time: for steps that end there.
  template <class F>
  static void for_each_owed(detail::moment when, F&& f) {
    arrears_walk(program, certain).interrupt(when, f);
  }
  /// Calls `f(variable, cell)` with the first cell of each.
  template <class F>
  static constexpr void for_each_variable(F&& f) {
    for (std::size_t v = 0; v < program.variable_count; ++v) f(program.variables[v], program.first_cell[v]);
  }
};

} // namespace keel::residency
