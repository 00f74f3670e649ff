// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is found out about a schedule while compiling, as constants, and the same in the numbers of certain fields.

#include <keel/impl/residency/known_valid.hpp>
#include <keel/impl/residency/memories.hpp>
#include <keel/impl/residency/pending_updates.hpp>
#include <keel/impl/residency/schedule_table.hpp>
#include <keel/impl/residency/steady.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace keel::residency::detail {

/// The memory of each node of `S`, where `Device` was chosen at the start.
template <class App, class S, class Device>
struct node_memories {
  static constexpr auto where = [] {
    std::array<memory, table_of<S>.max_nodes> made{};
    for (std::size_t i = 0; i < table_of<S>.size; ++i)
      made[i] = memory_at<App, Device>(table_of<S>.nodes[i].about->where);
    return made;
  }();
};

/// All that a planned step relies on.
template <class App, class S, class Device>
struct analysis {
  using devices = devices_of<App>;
  static_assert(policy::contains<devices, Device>,
                "keel::residency::plan: a device that is not in the application's list. "
                "Add it there?");
  static constexpr auto const& table = table_of<S>;
  static constexpr auto const& where = node_memories<App, S, Device>::where;
  static constexpr std::size_t cells = table.cells();
  using table_type = std::remove_cvref_t<decltype(table)>;

  /// Sets of states are written down for so many memories.
  static constexpr bool is_small = lanes_of<devices>::size < std::size_t{max_planned_memories};
  static constexpr auto steady = [] {
    if constexpr (is_small) return steady_search<table_type, cells>(table, where.data()).find();
    else return steady_state<cells>{};
  }();
  static constexpr auto known = [] {
    if constexpr (steady.period != 0)
      return known_valid_analysis<table_type, cells>(table, where.data(), steady.may_be_stale).find();
    else return known_valid<table_type::max_requests, cells>{};
  }();
  static constexpr auto flushed = [] {
    flush_table<table_type::max_nodes, table.changes()> made;
    auto const add = [&](position when, pending_update const& one) { made.add(when, one); };
    pending_analysis(table, where.data(), known, add).find_flushed();
    return made;
  }();

  /// Whether node `at` reads ghosts that have not been filled since their owners wrote: for certain.
  [[nodiscard]] static constexpr bool lacks_exchange(std::size_t at) {
    schedule_node const& n = table.nodes[at];
    return steady.lost_region == region::halo && steady.lost_request >= n.first && steady.lost_request < n.last;
  }
  /// Whether copies of a variable have to have ended when the step begins: the host writes it though none of it leaves,
  /// or its levels rotate though no copy of it begins in the step.
  [[nodiscard]] static constexpr bool must_have_arrived(std::size_t variable) {
    return !known.leaves_host[variable] &&
           (known.is_written_on_host[variable] || (known.is_rotated[variable] && !known.arrives_at_host[variable]));
  }
};

/// Stands for an analysis where there is none: nothing is known.
struct no_analysis {};
template <class Analysis>
inline constexpr bool is_planned = !std::is_same_v<Analysis, no_analysis>;

/// The variables of fields, and their numbers.
template <class... Vars>
struct variable_index {
  template <int N>
  using variable = std::tuple_element_t<std::size_t(N), std::tuple<Vars...>>;
  static constexpr auto numbers = [] {
    variable_info const* const all[] = {&Vars::about..., nullptr};
    variable_numbers<sizeof...(Vars)> made;
    for (std::size_t i = 0; i < sizeof...(Vars); ++i) made.add(*all[i]);
    return made;
  }();
  static constexpr bool is_unique = numbers.variable_count == sizeof...(Vars);
  /// The variable's number; -1 where the list lacks it.
  static constexpr int find(variable_info const* v) { return numbers.find(*v); }
};

template <class X, class Index>
inline constexpr bool is_in_fields = Index::find(&item<X>::variable::about) >= 0;
template <class Index, class X>
consteval void require_variable() {
  static_assert(is_in_fields<X, Index>,
                "keel::residency: a routine or an exchange names a variable that these fields do not have (see the "
                "variable and the entry in the message). Add it to fields<App, ...>?");
}
/// Stops the compiler where the fields with this index lack a variable that `E` names.
template <class E, class Index>
consteval void require_variables() {
  auto const of = []<class... Xs>(keel::list<Xs...>) { (require_variable<Index, Xs>(), ...); };
  if constexpr (E::about.what == entry_kind::routine)
    [&]<class... Clauses>(keel::list<Clauses...>) { (of(typename Clauses::parts{}), ...); }(typename E::clause_types{});
  else of(typename E::parts{});
}

/// The requests of schedule `S` in the numbers of fields with the variables of `Index`.
template <class S, class Index>
struct bound_schedule {
  static constexpr auto const& table = table_of<S>;
  /// By variable of the table; -1 where the fields lack it.
  static constexpr auto numbers = [] {
    std::array<int, table.max_requests + 1> made{};
    for (std::size_t v = 0; v < table.variable_count; ++v) made[v] = Index::find(table.variables[v]);
    return made;
  }();
  static constexpr auto requests = [] {
    std::array<request, table.max_requests + 1> made{};
    for (std::size_t r = 0; r < table.request_count; ++r) {
      made[r] = table.requests[r];
      made[r].variable = numbers[std::size_t(made[r].variable)];
    }
    return made;
  }();
  /// By cell of the table: where it stands in a row of the fields' cells.
  static constexpr auto cells = [] {
    std::array<std::uint16_t, table.cells() + 1> made{};
    for (std::size_t v = 0; v < table.variable_count; ++v)
      for (std::size_t c = table.first_cell[v]; numbers[v] >= 0 && c < table.first_cell[v + 1]; ++c)
        made[c] = std::uint16_t(Index::numbers.first_cell[numbers[v]] + (c - table.first_cell[v]));
    return made;
  }();

  [[nodiscard]] static constexpr bool is_complete(std::size_t node) {
    for (std::uint32_t r = table.nodes[node].first; r < table.nodes[node].last; ++r)
      if (request const& one = requests[r]; one.variable < 0) return false;
    return true;
  }
  [[nodiscard]] static constexpr std::span<request const> asked(std::size_t node) {
    return {requests.data() + table.nodes[node].first, table.nodes[node].last - table.nodes[node].first};
  }
  /// Those of its body as well.
  [[nodiscard]] static constexpr std::span<request const> asked_within(std::size_t node) {
    return {requests.data() + table.nodes[node].first,
            table.nodes[table.nodes[node].end - 1].last - table.nodes[node].first};
  }
  [[nodiscard]] static constexpr pending_update moved(pending_update const& u) {
    return {cells[u.at], cells[u.from], u.keep, u.stale};
  }
};

/// What a step by `Analysis` flushes, in the cells of the fields.
template <class Analysis, class Bound>
inline constexpr auto flushed_in = [] {
  std::array<pending_update, decltype(Analysis::flushed)::capacity> made{};
  for (std::size_t i = 0; i < Analysis::flushed.size; ++i) made[i] = Bound::moved(Analysis::flushed.list[i]);
  return made;
}();
/// Brings a row of cells to where a position has it, behind what is flushed there. Not a constant, for steps that end
/// early.
template <class Analysis, class Bound>
void apply_pending(cell* row, position when) {
  auto const apply = [&](position, pending_update const& u) {
    pending_update const one = Bound::moved(u);
    flush(row, &one, &one + 1);
  };
  pending_analysis(Analysis::table, Analysis::where.data(), Analysis::known, apply).find_pending(when);
}

} // namespace keel::residency::detail
