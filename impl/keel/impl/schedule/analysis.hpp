// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is found out about a schedule while compiling, as constants; and its requests in the numbers of certain fields.

#include <keel/impl/schedule/memories.hpp>
#include <keel/impl/schedule/schedule_table.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/impl/schedule/steady.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace keel::residency::detail {

/// The memory of each node of `S`, if routines `on_device` run in memory `Chosen`.
template <class App, class S, memory Chosen>
struct node_memories {
  static constexpr auto where = [] {
    std::array<memory, table_of<S>.max_nodes> made{};
    for (std::size_t i = 0; i < table_of<S>.size; ++i)
      made[i] = memory_at<App, Chosen>(table_of<S>.nodes[i].about->where);
    return made;
  }();
};

/// The steady state of `S` there. Devices that share a memory share it.
template <class App, class S, memory Chosen>
struct analysis {
  static constexpr auto const& table = table_of<S>;
  static constexpr auto const& where = node_memories<App, S, Chosen>::where;
  static constexpr std::size_t states = table.states();
  using table_type = std::remove_cvref_t<decltype(table)>;

  /// Sets of states are written down for so many memories.
  static constexpr bool is_small = queue_spaces_of<devices_of<App>>::size < std::size_t{max_planned_memories};
  static constexpr steady_state steady = [] {
    if constexpr (is_small) return steady_search<table_type, states>(table, where.data()).find();
    else return steady_state{};
  }();
};

struct lost_request {
  std::uint32_t request = no_request;
  loss why = loss::of_ghosts;
};
/// The first request of `S` that reads what is valid nowhere, for certain and in whatever step; or what an entry of a
/// `choose` leaves so. What depends on a condition, a width or a wall is left to the ledger. Memories do not matter
/// then: the search has only the host's.
template <class S>
inline constexpr lost_request lost_read = [] {
  using table_type = std::remove_cvref_t<decltype(table_of<S>)>;
  constexpr memory everywhere_host[table_type::max_nodes]{};
  steady_state const found =
      steady_search<table_type, table_of<S>.states()>(table_of<S>, everywhere_host, nullptr, true).find();
  return lost_request{found.lost_request, found.why};
}();
/// What `S` does with a scratch that it cannot, if routines `on_device` run in memory `Chosen`.
template <class App, class S, memory Chosen>
inline constexpr scratch_mistake mistake_in_scratch = [] {
  for (std::size_t v = 0; v != table_of<S>.variable_count; ++v)
    if (table_of<S>.variables[v]->is_scratch) {
      scratch_walk<> one(table_of<S>.view(), node_memories<App, S, Chosen>::where.data(), int(v));
      if (one.mistake.node != no_node) return one.mistake;
    }
  return scratch_mistake{};
}();
/// Whether node `at` has that request.
template <class S>
[[nodiscard]] constexpr bool lacks_exchange(std::size_t at) {
  return lost_read<S>.request >= table_of<S>.nodes[at].first && lost_read<S>.request < table_of<S>.nodes[at].last;
}
/// The type of node `Wanted` of a schedule, below `E`, which is node `N`.
template <std::size_t Wanted, std::size_t N, class E>
struct node_type {
  static constexpr std::size_t child = [] {
    std::size_t i = 0;
    while (children_of<E, N>[i + 1] <= Wanted) ++i;
    return i;
  }();
  using type =
      typename node_type<Wanted, children_of<E, N>[child], typename nth_of<child, typename E::entries>::type>::type;
};
template <std::size_t Wanted, class E>
struct node_type<Wanted, Wanted, E> : std::type_identity<E> {};

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
  /// The variable's number; -1 if the list lacks it.
  static constexpr int find(variable_info const* v) { return numbers.find(*v); }
};

/// The routine of an entry that calls one.
template <class E>
struct routine_type_of : std::type_identity<E> {};
template <Reduction E>
struct routine_type_of<E> : std::type_identity<typename E::routine_type> {};
template <class E>
using routine_of = typename routine_type_of<E>::type;

/// Calls `f` with the type of each part of a variable, and each reduction, that `E` names.
template <class E>
constexpr void for_each_part(auto const& f) {
  auto const of = [&]<class... Xs>(keel::list<Xs...>) { (f(std::type_identity<Xs>{}), ...); };
  if constexpr (calls_routine(E::about.what))
    [&]<class... Clauses>(keel::list<Clauses...>) {
      (of(typename Clauses::parts{}), ...);
    }(typename routine_of<E>::clause_types{});
  else if constexpr (has_body(E::about.what)) of(typename E::condition::reads::parts{});
  else of(typename E::parts{});
}

template <class X, class Index>
inline constexpr bool is_in_fields = Index::find(&item<X>::variable::about) >= 0;
template <class E, class Index, class X> // of each entry: a compiler prints an error of each function once
consteval void require_variable() {
  static_assert(is_in_fields<X, Index>,
                "keel::residency: a routine or an exchange names a variable that these fields do not have (see the "
                "variable and the entry in the message). Add it to fields<App, ...>.");
}
/// Stops the compiler if the fields with this index lack a variable that `E` names.
template <class E, class Index>
consteval void require_variables() {
  for_each_part<E>([]<class X>(std::type_identity<X>) {
    if constexpr (Part<X>) require_variable<E, Index, X>();
  });
}

/// Stands in the compiler's message for entry `E` that reads the value of `X` before it is made.
template <class E, class X>
inline constexpr bool finds_its_value = false;
/// Stops the compiler if `S` reads the value of a reduction before it is made.
template <class S>
consteval bool makes_all_values() {
  if constexpr (constexpr std::uint32_t node = table_of<S>.unmade; node != no_node) {
    using reader = typename node_type<node, 0, S>::type;
    for_each_part<reader>([]<class X>(std::type_identity<X>) {
      if constexpr (Reduction<X>)
        static_assert(
            !table_of<S>.lacks(&X::value, node) || finds_its_value<reader, X>,
            "keel::residency: an entry of this schedule reads the value of a reduction that is made after it, or "
            "only by some entries of a choose (entry and reduction are in the message). Put the reduction before it, "
            "or into each entry of the choose.");
    });
    return false;
  }
  return true;
}

/// The requests of schedule `S` in the numbers of fields with the variables of `Index`; -1 if the fields lack one.
template <class S, class Index>
struct bound_schedule {
  static constexpr auto const& table = table_of<S>;
  static constexpr auto requests = [] {
    std::array<request, table.max_requests + 1> made{};
    for (std::size_t r = 0; r != table.request_count; ++r) {
      made[r] = table.requests[r];
      made[r].variable = Index::find(table.variables[table.requests[r].variable]);
    }
    return made;
  }();
  static constexpr schedule_nodes nodes{table.nodes, table.size, requests.data(), Index::numbers.variables};

  [[nodiscard]] static constexpr bool is_complete(std::size_t node) {
    for (request const& one : nodes.asked(node))
      if (one.variable < 0) return false;
    return true;
  }
};

} // namespace keel::residency::detail
