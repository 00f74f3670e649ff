// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Entries whose kernels a device gets at once; and numbers that these read, though they change from step to step.

#include <keel/policy/list.hpp>
#include <keel/schedule/schedule.hpp>

#include <cstddef>

namespace keel::residency {

/// A number that routines read as `v(dt{})`, a view without dimensions in the memory of their device:
/// `struct dt : argument<"dt", double> {};`, and `f.set(dt{}, 0.1)` before the first step and whenever it changes. What
/// is set counts for the routines of later steps. A routine says `reads<dt>`. `T` is copied as its bytes.
template <text Name, class T>
struct argument {
  using argument_type = argument;
  using value_type = T;
  static constexpr value_info value{Name.view(), {}};
};
/// A type that is an argument.
template <class A>
concept Argument = requires { typename A::argument_type; };

namespace detail {
/// Whether all that an entry does is to give work to the queue of a device, the same each time.
constexpr bool can_be_recorded(entry const& e) {
  for (std::size_t i = 0; i < e.child_count; ++i)
    if (!can_be_recorded(*e.children[i])) return false;
  for (std::size_t i = 0; i < e.value_count; ++i)
    if (!e.values[i]->routine.empty()) return false;
  if (e.what == entry_kind::routine) return e.where.what != place::kind::at_host;
  return rotates(e.what) || (has_place(e.what) && e.what != entry_kind::reduce) || e.what == entry_kind::sequence ||
         e.what == entry_kind::repeat;
}
template <Entry E>
struct recorded {
  static_assert(
      can_be_recorded(E::about),
      "keel::residency::graph: an entry that the host has to be asked for each time (a routine on_host, one "
      "that reads the value of a reduction, a reduce, when, every, output or the like; it is in the message). "
      "Put it before the graph, or after it; let kernels read a number that changes as an argument.");
  using type = E;
};
} // namespace detail

/// Runs its entries: routines `on_device`, exchanges, conditions at walls, rotations of levels, and `repeat` of these.
/// What they launch is recorded when the fields are for the second time as they were, and launched at once from then
/// on, so that a step costs the host one call: `struct step : graph<cycle<h>, rhs, exchange<h>> {};`, or a part of one.
///
/// `run` of a routine is not called then. So it must not depend on what the host changes: not on variables of the
/// program, not on `f.steps()`; it makes no view for its kernels only, and waits for nothing. What it got from `step`
/// is compared: with other arguments it is recorded anew. So let kernels read a number that changes in each step as an
/// `argument`. The host runs the entries as they are where it has to: on devices without a queue, when something
/// observes or checks, for exchanges with other ranks (what is between these is recorded), and where recording fails,
/// of which it warns. See graphs.md.
template <class... Entries>
struct graph : detail::group<entry_kind::graph, 1, typename detail::recorded<Entries>::type...> {};

/// A graph whose entries need not follow on each other: those run side by side of which none writes what another one
/// reads or writes, as they declare it. So a routine may change nothing else, and has no `Kokkos::parallel_reduce` or
/// `parallel_scan`, whose memory Kokkos shares among kernels; `reduce_owned` is allowed. The fewer a routine declares,
/// the more runs side by side: two kernels that have nothing in common are two routines.
template <class... Entries>
struct parallel_graph : detail::group<entry_kind::graph, 0, typename detail::recorded<Entries>::type...> {};

} // namespace keel::residency
