// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A schedule as one flat constexpr table, and the two ways to walk it.
///
/// A schedule is a tree of types. The table has a node for each entry, in the order written, a group before its body. A
/// node has the requests of its entry, and the number of the node after its body. All is found out about a schedule on
/// this table (`steady.hpp`, `prefetch.hpp`, `explain.hpp`). A step walks it over data; one walk over types has calls.

#include <keel/impl/schedule/schedule_node.hpp>
#include <keel/impl/schedule/variable_numbers.hpp>
#include <keel/policy/list.hpp>
#include <keel/schedule/schedule.hpp>
#include <keel/validity/concepts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace keel::residency::detail {

constexpr std::size_t count_nodes(entry const& e) {
  std::size_t n = 1;
  for (std::size_t i = 0; i < e.child_count; ++i) n += count_nodes(*e.children[i]);
  return n;
}
constexpr std::size_t count_declarations(entry const& e) {
  std::size_t n = e.declaration_count;
  for (std::size_t i = 0; i < e.child_count; ++i) n += count_declarations(*e.children[i]);
  return n;
}

/// The nodes of a table and their requests, wherever these stand.
struct schedule_nodes {
  schedule_node const* nodes = nullptr;
  std::size_t size = 0;
  request const* requests = nullptr;
  variable_info const* const* variables = nullptr; ///< by number

  [[nodiscard]] constexpr bool is_scratch(request const& r) const {
    return r.variable >= 0 && variables[r.variable]->is_scratch;
  }
  [[nodiscard]] constexpr std::span<request const> asked(std::size_t node) const {
    return {requests + nodes[node].first, nodes[node].last - nodes[node].first};
  }
  /// Whether anything runs on the device chosen at the start.
  [[nodiscard]] constexpr bool asks_for_device() const {
    for (std::size_t i = 0; i < size; ++i)
      if (auto const where = nodes[i].about->where.what;
          where == place::kind::at_chosen || where == place::kind::at_exchange)
        return true;
    return false;
  }
  /// What node `i`, with its body, does to a level of a variable: the regions that it makes stale elsewhere, or moves.
  [[nodiscard]] constexpr region invalidated_in(std::size_t i, request const& what) const {
    region all = region::none;
    for (std::size_t k = i; k < nodes[i].end; ++k)
      for (request const& one : asked(k)) {
        if (one.variable != what.variable) continue;
        if (rotates(nodes[k].what())) all = all | one.writes;
        else if (one.level == what.level) all = all | invalidated_by(one.writes);
      }
    return all;
  }
};

/// `Nodes` and `Requests` are upper bounds.
template <std::size_t Nodes, std::size_t Requests>
struct schedule_table : variable_numbers<Requests> {
  static constexpr std::size_t max_nodes = Nodes, max_requests = Requests;
  schedule_node nodes[Nodes]{};
  request requests[Requests + 1]{};
  std::size_t size = 0, request_count = 0;
  std::uint32_t unmade = no_node; ///< the first that reads the value of a reduction which is made after it, see `lacks`

  constexpr explicit schedule_table(entry const& e) {
    append(e);
    join_walls();
    overlap_exchanges();
    for (std::size_t i = size; i-- > 0;)
      for (std::size_t k = 0; k < nodes[i].about->value_count; ++k)
        if (lacks(nodes[i].about->values[k], i)) unmade = std::uint32_t(i);
  }
  [[nodiscard]] constexpr schedule_nodes view() const { return {nodes, size, requests, this->variables}; }
  [[nodiscard]] constexpr int levels(request const& r) const { return this->variables[r.variable]->levels; }
  [[nodiscard]] constexpr std::uint16_t state_of(request const& r) const {
    return std::uint16_t(this->first_state[r.variable] + r.level);
  }
  /// Rotates the levels of a variable in a row with an element for each state; `freed` is what a void level gets.
  template <class T>
  constexpr void rotate(T* row, request const& r, rotation how, T const& freed) const {
    if (levels(r) == 1) return;
    if (T* const level = rotate_levels(row + state_of(r), levels(r), how)) *level = freed;
  }
  /// Whether a value that the schedule makes is not made before `reader`. Others come from outside.
  [[nodiscard]] constexpr bool lacks(value_info const* value, std::size_t reader) const {
    return makes(value, 0, size) && !makes(value, 0, reader);
  }
  /// Whether the first step does what others do not.
  [[nodiscard]] constexpr bool differs_in_first_step() const {
    for (std::size_t i = 0; i < size; ++i)
      if (is_for_first_step(nodes[i].what())) return true;
    return false;
  }

private:
  constexpr void append(entry const& e) {
    std::size_t const here = size++;
    nodes[here].about = &e;
    nodes[here].first = std::uint32_t(request_count);
    for (declaration const& d : e.declared()) // a rotation moves all levels
      requests[request_count++] = {this->add(*d.variable),
                                   d.level,
                                   d.reads,
                                   rotates(e.what) && d.variable->levels > 1 ? region::everywhere : d.writes,
                                   d.read_layers,
                                   d.written_layers};
    nodes[here].last = std::uint32_t(request_count);
    for (std::size_t i = 0; i < e.child_count; ++i) append(*e.children[i]);
    nodes[here].end = std::uint32_t(size);
    nodes[here].group_end = std::uint32_t(size);
    for (std::size_t i = here + 1; i < size; i = nodes[i].end)
      nodes[i].group_end = is_choice(e.what) ? nodes[i].end : std::uint32_t(size); // none follows another
  }
  // Whether node `i` with its body makes the value before node `reader`. Of a choice, each entry has to, or that which
  // holds the reader.
  [[nodiscard]] constexpr bool makes(value_info const* value, std::size_t i, std::size_t reader) const {
    schedule_node const& n = nodes[i];
    bool some = n.what() == entry_kind::reduce && *n.about->makes == *value, all = true;
    for (std::size_t k = i + 1; k < n.end && k < reader; k = nodes[k].end) {
      if (is_choice(n.what()) && n.end > reader && nodes[k].end <= reader) continue;
      bool const one = makes(value, k, reader);
      some = some || one, all = all && one;
    }
    return is_choice(n.what()) && n.end <= reader && reader < size ? all : some;
  }
  // Conditions at walls that follow on each other run as the first of them, which has the requests of all. The others
  // have none.
  constexpr void join_walls() {
    for (std::size_t i = 0; i < size; ++i) {
      schedule_node& n = nodes[i];
      if (n.what() != entry_kind::walls) continue;
      for (std::size_t j = i + 1; j < n.group_end && nodes[j].what() == entry_kind::walls; ++j) {
        ++n.together, nodes[j].together = 0;
        for (std::uint32_t r = nodes[j].first; r < nodes[j].last; ++r) join(n, requests[r]);
        nodes[j].first = nodes[j].last = n.last;
      }
      for (std::uint32_t r = n.first; r < n.last; ++r) // they leave no walls: what they keep need not be valid
        if (overlap(requests[r].writes, region::walls) &&
            sides_left(&n, n.together, requests[r], *this->variables[requests[r].variable]) == 0)
          requests[r].reads = without(requests[r].reads, region::walls);
      i += n.together - 1;
    }
  }
  constexpr void join(schedule_node& n, request const& one) {
    for (std::uint32_t k = n.first; k < n.last; ++k) {
      request& r = requests[k];
      if (r.variable != one.variable || r.level != one.level) continue;
      r.reads = r.reads | one.reads, r.writes = r.writes | one.writes;
      r.read_layers = std::max(r.read_layers, one.read_layers);
      return;
    }
    requests[n.last++] = one;
  }
  // An exchange stays under way while the routines after it neither use the ghosts that it fills nor write what it
  // sends. It begins within a routine in pieces right before it, unless that uses the ghosts.
  constexpr void overlap_exchanges() {
    for (std::size_t i = size; i-- > 0;) {
      if (nodes[i].what() != entry_kind::exchange) continue;
      if (i > 0 && nodes[i - 1].about->in_pieces && nodes[i - 1].group_end == nodes[i].group_end &&
          !meets(nodes[i - 1], nodes[i], false))
        nodes[i - 1].begins = std::uint32_t(i);
      std::size_t last = i, j = nodes[i].end;
      for (; j < nodes[i].group_end && calls_routine(nodes[j].what()) && !meets(nodes[j], nodes[i], true); ++j) {
        nodes[j].overlaps = std::uint32_t(i);
        last = j;
      }
      if (last == i) continue;
      nodes[i].only_begins = true;
      (j < nodes[i].group_end ? nodes[j].finishes : nodes[last].finishes_last) = std::uint32_t(i);
    }
  }
  // Whether a routine uses the ghosts of an exchange, or, if that counts, writes any of its data.
  [[nodiscard]] constexpr bool meets(schedule_node const& routine, schedule_node const& exchange,
                                     bool by_writing) const {
    for (std::uint32_t r = routine.first; r < routine.last; ++r)
      for (std::uint32_t x = exchange.first; x < exchange.last; ++x)
        if (requests[r].variable == requests[x].variable && requests[r].level == requests[x].level &&
            (overlap(requests[r].reads, region::ghosts) || (by_writing && requests[r].writes != region::none)))
          return true;
    return false;
  }
};

template <class S>
inline constexpr schedule_table<count_nodes(S::about), count_declarations(S::about)> table_of{S::about};

/// Walks nodes `begin` to `end`: calls `visitor.leaf(i)`, and `visitor.group(i, body)` for those with a body, which
/// `body()` walks once. What a condition or a repetition means is the visitor's to say.
template <class Visitor>
constexpr void walk(schedule_node const* nodes, std::size_t begin, std::size_t end, Visitor& visitor) {
  for (std::size_t i = begin; i < end; i = nodes[i].end)
    if (!has_body(nodes[i].what())) visitor.leaf(i);
    else visitor.group(i, [&] { walk(nodes, i + 1, nodes[i].end, visitor); });
}
/// Walks only the `which`-th entry of a group.
template <class Visitor>
constexpr void walk_one(schedule_node const* nodes, std::size_t group, std::size_t which, Visitor& visitor) {
  std::size_t i = group + 1;
  for (; which > 0; --which) i = nodes[i].end;
  walk(nodes, i, nodes[i].end, visitor);
}

/// The numbers of the children of group `G`, node `N`.
template <class G, std::size_t N>
inline constexpr auto children_of = [] {
  std::array<std::size_t, G::about.child_count + 1> made{N + 1};
  for (std::size_t i = 0; i != G::about.child_count; ++i) made[i + 1] = made[i] + count_nodes(*G::about.children[i]);
  return made;
}();

/// Walks a table over types, unrolled: `visitor.leaf<N, E>()`, `visitor.group<N, E>(body)`.
template <std::size_t N, class E, class Visitor>
[[gnu::always_inline]] constexpr void walk_types(Visitor& visitor) {
  if constexpr (!has_body(E::about.what)) visitor.template leaf<N, E>();
  else
    visitor.template group<N, E>([&](auto...) __attribute__((always_inline)) { // generic: compiled where it is called
      [&]<class... Es, std::size_t... I>(keel::list<Es...>, std::index_sequence<I...>) __attribute__((always_inline)) {
        // An array, because clang nests a fold, and stops at 256.
        [[maybe_unused]] char const in_order[] = {'\0', (walk_types<children_of<E, N>[I], Es>(visitor), '\0')...};
      }(typename E::entries{}, std::make_index_sequence<E::entries::size>{});
    });
}

} // namespace keel::residency::detail
