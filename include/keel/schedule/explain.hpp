// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan that people can read: as a table, and as a graph.

#include <keel/impl/schedule/explain.hpp>
#include <keel/impl/schedule/explain_texts.hpp>
#include <keel/schedule/plan.hpp>

#include <ostream>
#include <type_traits>

namespace keel::residency {

/// How a plan is written: a table of text; the language of Graphviz, for `dot -Tsvg`.
enum class format { table, graphviz };

/// Writes what `Schedule` does in each step of its steady state, in the application `App` with
/// `Device` chosen. The default is the one that the running program chose; where none runs, the first of the list with
/// memory of its own.
///
/// In the table each line is a region of a level of a variable that an entry reads or writes, and
/// says whether it has to be copied for that: `never`, `always`, or `depends` on conditions; where
/// from and where to; and what becomes of the ghosts. Sums over one period stand below, which copies begin early, and
/// which exchanges begin within a routine `in_pieces`, on ranks that have neighbours.
/// In the graph an arrow goes from the writer of data to their reader, thick if they are copied on the way.
template <class App, Entry Schedule, class Device = void>
void explain(std::ostream& out, format how = format::table) {
  detail::explanation const made = [] {
    if constexpr (std::is_void_v<Device>) return detail::explained_as_chosen<App, Schedule>();
    else return detail::explained<App, Schedule, Device>();
  }();
  out << (how == format::table ? detail::as_table(made) : detail::as_graph(made));
}

/// Explains for an application that was written for every device of this build.
template <Entry Schedule>
void explain(std::ostream& out, format how = format::table) {
  explain<detail::any_application, Schedule>(out, how);
}

} // namespace keel::residency
