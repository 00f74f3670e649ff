// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A plan that people can read: a table.

#include <keel/impl/schedule/explain.hpp>
#include <keel/impl/schedule/explain_texts.hpp>
#include <keel/schedule/plan.hpp>

#include <ostream>
#include <type_traits>

namespace keel::residency {

/// Writes what `Schedule` does in each step of its steady state, in the application `App` with
/// `Device` chosen. The default is the one that the running program chose; if none runs, the first of the list with
/// memory of its own.
///
/// Each line is a region of a level of a variable that an entry reads or writes, and
/// says whether it has to be copied for that: `never`, `always`, or `depends` on conditions; where
/// from and where to; and what becomes of the ghosts. Sums over one period stand below, which copies begin early, and
/// which exchanges begin within a routine `in_pieces`, on ranks that have neighbours.
template <class App, Entry Schedule, class Device = void>
void explain(std::ostream& out) {
  if constexpr (std::is_void_v<Device>) out << detail::as_table(detail::explained_as_chosen<App, Schedule>());
  else out << detail::as_table(detail::explained<App, Schedule, Device>());
}

/// Explains for an application that was written for every device of this build.
template <Entry Schedule>
void explain(std::ostream& out) {
  explain<detail::any_application, Schedule>(out);
}

} // namespace keel::residency
