// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an entry of a schedule can be, and what follows from that.

#include <keel/validity/transitions.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace keel::residency {

/// What an entry of a schedule is. Those from `sequence` on hold other entries, their body.
enum class entry_kind : std::uint8_t {
  routine,
  reduce,
  cycle,
  rewind,
  cycle_in_place,
  exchange,
  accumulate,
  all_reduce,
  walls,
  output,
  save,
  checkpoint,
  sequence,
  analysis,
  graph,
  repeat,
  every,
  when,
  choose,
  once
};

[[nodiscard]] constexpr bool has_body(entry_kind k) { return k >= entry_kind::sequence; }
/// Whether a step may leave the body out.
[[nodiscard]] constexpr bool is_conditional(entry_kind k) { return k >= entry_kind::every; }
/// Whether only one of the entries that it holds runs.
[[nodiscard]] constexpr bool is_choice(entry_kind k) { return k == entry_kind::choose; }
/// Whether its body runs only in the first step of the fields.
[[nodiscard]] constexpr bool is_for_first_step(entry_kind k) { return k == entry_kind::once; }
/// Whether it rotates time levels, and which way.
[[nodiscard]] constexpr bool rotates(entry_kind k) { return k >= entry_kind::cycle && k <= entry_kind::cycle_in_place; }
[[nodiscard]] constexpr rotation rotation_of(entry_kind k) {
  return rotation(unsigned(k) - unsigned(entry_kind::cycle));
}
/// Whether ranks communicate in it: it fills ghosts, or spends them.
[[nodiscard]] constexpr bool is_between_ranks(entry_kind k) {
  return k == entry_kind::exchange || k == entry_kind::accumulate;
}
/// Whether it calls a routine.
[[nodiscard]] constexpr bool calls_routine(entry_kind k) { return k == entry_kind::routine || k == entry_kind::reduce; }
/// Whether it reads and writes in a memory.
[[nodiscard]] constexpr bool has_place(entry_kind k) {
  return calls_routine(k) || is_between_ranks(k) || k == entry_kind::all_reduce || k == entry_kind::walls;
}

/// What messages call an entry that has no name of its own.
[[nodiscard]] constexpr std::string_view name_of(entry_kind k) {
  constexpr std::string_view names[] = {"routine",  "reduce",     "cycle",      "rewind",   "cycle_in_place",
                                        "exchange", "accumulate", "all_reduce", "walls",    "output",
                                        "save",     "checkpoint", "sequence",   "analysis", "graph",
                                        "repeat",   "every",      "when",       "choose",   "once"};
  static_assert(std::size(names) == std::size_t(entry_kind::once) + 1, "each kind has a name");
  static_assert(names[std::size_t(entry_kind::cycle) + std::size_t(rotation::in_place)] ==
                words_of(rotation::in_place).name);
  return names[std::size_t(k)];
}

} // namespace keel::residency
