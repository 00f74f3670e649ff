// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What is refused of a schedule while compiling, beside what stands in analysis.hpp.

#include <keel/impl/schedule/analysis.hpp>
#include <keel/impl/schedule/memories.hpp>
#include <keel/policy/list.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

/// Stands in the compiler's message for entry `E` that reads what is lost of `X`, mostly ghosts which were not filled.
/// What refuses it has the schedule among its arguments: a compiler prints an error of each function once.
template <class E, class X>
inline constexpr bool finds_its_ghosts = false;
template <class S, class E, class X, loss Why>
consteval void refuse_unfilled() {
  if constexpr (Why == loss::by_choice)
    static_assert(finds_its_ghosts<E, X>,
                  "keel::residency: an entry of this schedule reads what only some entries of a choose before it leave "
                  "valid (entry and variable are in the message). Write or exchange it in each of them, or after the "
                  "choose.");
  else if constexpr (Why == loss::of_layers)
    static_assert(
        finds_its_ghosts<E, X>,
        "keel::residency: an entry of this schedule reads more layers of ghosts than were filled since their owners wrote "
        "(every step would fail; entry and variable are in the message). Exchange as many before it, or read fewer: "
        "depth<N, ...>.");
  else if constexpr (Why == loss::of_level)
    static_assert(
        finds_its_ghosts<E, X>,
        "keel::residency: an entry of this schedule reads a level that is valid nowhere, because a cycle or a "
        "rewind freed it (the step would fail; entry and variable are in the message). Write it before, or "
        "read another level.");
  else if constexpr (E::about.what == entry_kind::accumulate)
    static_assert(
        finds_its_ghosts<E, X>,
        "keel::residency: an accumulate of this schedule adds ghosts that were not written since their owners wrote "
        "(every step would fail; the variable is in the message). Let a routine before it say writes<everywhere<...>>.");
  else if constexpr (E::about.what == entry_kind::walls)
    static_assert(
        finds_its_ghosts<E, X>,
        "keel::residency: a condition at walls of this schedule goes on along ghosts that no exchange has filled since "
        "their owners wrote (every step would fail; condition and variable are in the message). Put an exchange before "
        "it.");
  else
    static_assert(
        finds_its_ghosts<E, X>,
        "keel::residency: a routine of this schedule reads ghosts that no exchange has filled since their owners wrote "
        "(every step would fail; routine and variable are in the message). Put an exchange before it, or read owned only.");
}
/// Whether the fields with this index can run `S`: each ghost that it reads is filled before. Else the compiler stops,
/// once for all devices. If the fields lack the variable, that is the error.
template <class S, class Index>
consteval bool finds_all_ghosts() {
  if constexpr (constexpr std::uint32_t lost = lost_read<S>.request; lost != no_request) {
    constexpr int variable = bound_schedule<S, Index>::requests[lost].variable;
    constexpr std::size_t node = [] {
      std::size_t i = 0;
      while (!lacks_exchange<S>(i)) ++i;
      return i;
    }();
    if constexpr (variable >= 0) {
      refuse_unfilled<S, typename node_type<node, 0, S>::type, typename Index::template variable<variable>,
                      lost_read<S>.why>();
      return false;
    }
  }
  return true;
}

/// Stands in the compiler's message for entry `E` that reads scratch `X`.
template <class E, class X>
inline constexpr bool finds_its_scratch = false;
template <class S, class E, class X, bool Moves>
consteval void refuse_scratch() {
  if constexpr (rotates(E::about.what))
    static_assert(finds_its_scratch<E, X>,
                  "keel::residency: a scratch is cycled or rewound (it has one level; it is in the message). Leave it "
                  "out, or make it a variable.");
  else if constexpr (Moves)
    static_assert(finds_its_scratch<E, X>,
                  "keel::residency: an entry of this schedule reads a scratch in another memory than that where it was "
                  "written (a scratch is never copied; exchanges happen on the host unless the policy says otherwise; "
                  "entry and scratch are in the message). Run both on one device, or make it a variable.");
  else
    static_assert(finds_its_scratch<E, X>,
                  "keel::residency: an entry of this schedule reads a scratch that has not been written before it, or "
                  "only by entries that may not run (a scratch keeps nothing from step to step; entry and scratch are "
                  "in the message). Write it before, in each case.");
}
/// Whether what `S` reads of scratches was written in the same step and memory. Else the compiler stops.
template <class App, class S, class Index, class Tag>
consteval bool finds_all_scratch() {
  constexpr scratch_mistake found = mistake_in_scratch<App, S, memory_of<devices_of<App>, Tag>>;
  if constexpr (found.node != no_node) {
    constexpr int variable = Index::find(table_of<S>.variables[found.variable]);
    if constexpr (variable >= 0) {
      refuse_scratch<S, typename node_type<found.node, 0, S>::type, typename Index::template variable<variable>,
                     found.moves>();
      return false;
    }
  }
  return true;
}

/// Stops the compiler if a routine's device is not in the list; once, whatever device was chosen.
template <class R, class Tag, class Devices>
void require_device() {
  static_assert(policy::contains<Devices, Tag>,
                "keel::residency: a routine runs on a device that is not in the application's list. Add it there.");
}

} // namespace keel::residency::detail
