// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Schedules as types: what happens in a step, in order, as a tree of data.

#include <keel/policy/list.hpp>
#include <keel/schedule/reduce.hpp>
#include <keel/schedule/routine.hpp>

#include <array>

namespace keel::residency {

namespace detail {
template <entry_kind What, Variable... Vs>
struct rotation_entry {
  using parts = keel::list<Vs...>;
  static constexpr auto declared = join(std::array<declaration, sizeof...(Vs)>{declaration{&Vs::about}...});
  static constexpr entry about{
      .what = What, .name = name_of(What), .first = declared.list.data(), .declaration_count = declared.size};
};
} // namespace detail

/// Moves the time levels of each variable one into the past, by pointer. The new current level
/// is valid nowhere. A variable of one level stays as it is.
template <Variable... Vs>
struct cycle : detail::rotation_entry<entry_kind::cycle, Vs...> {};
/// The inverse of `cycle`, for a step that is refused: level 1 becomes the current one again, and what was current
/// becomes the oldest level, valid nowhere.
template <Variable... Vs>
struct rewind : detail::rotation_entry<entry_kind::rewind, Vs...> {};
/// As `cycle`, and the oldest level becomes the current one with its data: valid where it was, for a routine that
/// updates it. So a leapfrog, which adds to what was there two steps ago, needs two levels.
template <Variable... Vs>
struct cycle_in_place : detail::rotation_entry<entry_kind::cycle_in_place, Vs...> {};

namespace detail {
/// A part whose ghosts are filled.
template <Part X>
struct filled : item<X> {
  static_assert(item<X>::variable::about.has_ghosts,
                "keel::residency::exchange: a variable without ghosts (it is in the message). Leave it out.");
  static_assert(item<X>::layers != 0,
                "keel::residency::exchange: the closure of a variable (only whole layers of ghosts "
                "are filled; it is in the message). Say the variable, or depth<1, x>.");
};
} // namespace detail

/// Fills the ghosts of each part with what the neighbours own, corners included; a part is a variable, a level of the
/// past, or only the first layers of ghosts, `depth<1, x>`. In the state machine it is a routine on the host that reads
/// the rim and writes the halo. Cells beyond the end of the grid have no neighbour and are not touched: a routine that
/// says `writes<walls<x>>` fills them. Communicates.
template <Part... Xs>
struct exchange {
  using parts = keel::list<Xs...>;
  static constexpr auto declared = detail::join(std::array<declaration, sizeof...(Xs)>{
      declaration{&detail::filled<Xs>::variable::about, detail::filled<Xs>::level, region::rim, region::halo, 0,
                  detail::filled<Xs>::layers}...});
  static constexpr entry about{.what = entry_kind::exchange,
                               .name = name_of(entry_kind::exchange),
                               .where = {place::kind::at_exchange},
                               .first = declared.list.data(),
                               .declaration_count = declared.size};
};

namespace detail {
/// A part whose ghosts can be added to what their owners hold.
template <Part X>
struct summed : item<X> {
  using variable = typename item<X>::variable;
  static_assert(variable::about.has_ghosts,
                "keel::residency::accumulate: a variable without ghosts (it is in the message). Leave it out.");
  static_assert(item<X>::layers != 0, "keel::residency::accumulate: the closure of a variable (only whole layers of "
                                      "ghosts are added; it is in the message). Say the variable, or depth<1, x>.");
  static_assert(addend_of<typename element_of<typename variable::data_type>::type> != addend::none,
                "keel::residency::accumulate: elements of a variable have no sum (it is in the message; float, double, "
                "integers of 32 and 64 bits and complex numbers have one). Make a dimension of their parts.");
};
} // namespace detail

/// Adds the ghosts of each part to what their owners hold, corners included. In the state machine it is a routine that
/// reads rim and halo and writes the rim, where exchanges happen; so afterwards the halo is valid nowhere until an
/// exchange fills it. Walls are not touched. What comes to a cell is added in an order that depends only on how the
/// grid is cut, so that the bits are the same each time. Communicates.
template <Part... Xs>
struct accumulate {
  using parts = keel::list<Xs...>;
  static constexpr auto declared = detail::join(std::array<declaration, sizeof...(Xs)>{
      declaration{&detail::summed<Xs>::variable::about, detail::summed<Xs>::level, region::rim | region::halo,
                  region::rim, detail::summed<Xs>::layers}...});
  static constexpr entry about{.what = entry_kind::accumulate,
                               .name = name_of(entry_kind::accumulate),
                               .where = {place::kind::at_exchange},
                               .first = declared.list.data(),
                               .declaration_count = declared.size};
};

namespace detail {

template <entry_kind What, int N, class... Entries>
struct group {
  using entries = keel::list<Entries...>;
  static constexpr entry const* children[sizeof...(Entries) + 1] = {&Entries::about..., nullptr};
  static constexpr entry about{
      .what = What, .name = name_of(What), .children = children, .child_count = sizeof...(Entries), .count = N};
};

} // namespace detail

/// Runs its entries in the N-th, 2N-th, … step of the fields.
template <int N, class... Entries>
struct every : detail::group<entry_kind::every, N, Entries...> {
  static_assert(N >= 1, "keel::residency::every: fewer than one (it counts steps). Say every<1, ...>.");
};
/// Runs its entries only in the first step of the fields, when `steps()` is 1; by `run`, before the second step.
template <class... Entries>
struct once : detail::group<entry_kind::once, 1, Entries...> {};
/// Runs its entries N times over.
template <int N, class... Entries>
struct repeat : detail::group<entry_kind::repeat, N, Entries...> {
  static_assert(N >= 0, "keel::residency::repeat: a negative number. Say repeat<0, ...>.");
};
namespace detail {
/// A group of which a condition decides. It may say `using reads = reads<dt>;`: then it gets the values first.
template <entry_kind What, class Condition, class... Entries>
struct decided : group<What, 1, Entries...> {
  using condition = Condition;
};
template <entry_kind What, class Condition, class... Entries>
  requires requires { typename Condition::reads; }
struct decided<What, Condition, Entries...> : group<What, 1, Entries...> {
  using condition = Condition;
  static constexpr auto declared = join(Condition::reads::declared);
  static_assert(declared.size == 0,
                "keel::residency: a condition reads a variable (it runs on no device; the condition "
                "is in the message). Let a reduce make a value of it.");
  static constexpr entry about{.what = What,
                               .name = name_of(What),
                               .children = group<What, 1, Entries...>::children,
                               .child_count = sizeof...(Entries),
                               .values = declared.values,
                               .value_count = declared.value_count};
};
} // namespace detail

/// Runs its entries if `Condition::holds(…)` is true; it gets the arguments of `step` that it takes, after the values
/// of reductions that its `using reads = reads<…>;` names. It has to return the same on every rank.
template <class Condition, class... Entries>
struct when : detail::decided<entry_kind::when, Condition, Entries...> {};
/// Runs one of its entries, that with the number which `Condition::holds(…)` returns, counted from 0: an integer, or an
/// `enum class solver_kind { cg, jacobi }` in their order. It gets what the condition of `when` gets, and has to return
/// the same on every rank. A number that no entry has is a `keel::error`.
///
/// What is valid after it is what is valid after each of its entries: what one of them leaves valid nowhere has to be
/// written or exchanged before it is read, else the schedule does not compile.
template <class Condition, class... Entries>
struct choose : detail::decided<entry_kind::choose, Condition, Entries...> {
  static_assert(sizeof...(Entries) > 0, "keel::residency::choose: no entries (one has to run). Name those that it "
                                        "chooses among.");
};
/// Runs its entries, then copies to the host the regions that they wrote, if `copy-back-written-in-analysis`
/// says so. A plan does not count that.
template <class... Entries>
struct analysis : detail::group<entry_kind::analysis, 1, Entries...> {};

/// A routine on the host that declares nothing: its `v` gives any variable of the fields to read. Before it runs
/// all is copied to the host that `copy-back-every` (counting steps), `copy-back-vars` and `copy-back-all-levels`
/// say; what is valid nowhere is left out. To ask for what the host does not have is an error. A plan does
/// not count these copies.
template <text Name>
struct output {
  static constexpr entry about{.what = entry_kind::output, .name = Name.view(), .where = on_host::where};
};

/// What happens in a step: `struct step : schedule<cycle<eta>, rhs, advance, exchange<eta>> {};`
template <class... Entries>
struct schedule : detail::group<entry_kind::sequence, 1, Entries...> {};

/// A type that can stand in a schedule, or be run by itself.
template <class E>
concept Entry = requires {
  { E::about } -> std::same_as<entry const&>;
};

} // namespace keel::residency
