// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// An entry of a schedule as a node of a table; and what conditions at walls that follow on each other leave out.

#include <keel/schedule/schedule.hpp>
#include <keel/schedule/walls.hpp>
#include <keel/validity/concepts.hpp>

#include <cstddef>
#include <cstdint>

namespace keel::residency::detail {

inline constexpr std::uint32_t no_node = ~std::uint32_t{0}, no_request = no_node;

struct schedule_node {
  entry const* about = nullptr;
  std::uint32_t first = 0, last = 0;     ///< its requests
  std::uint32_t end = 0;                 ///< the node after its body
  std::uint32_t group_end = 0;           ///< the node after the body that it is in
  std::uint32_t finishes = no_node;      ///< the exchange that has to be finished before it
  std::uint32_t finishes_last = no_node; ///< the exchange that has to be finished after it, the last of its group
  std::uint32_t overlaps = no_node;      ///< the exchange that is under way while it runs
  std::uint32_t begins = no_node;        ///< of a routine in pieces: the exchange that begins after its rim
  bool only_begins = false;              ///< of an exchange: another node finishes it
  std::uint32_t together = 1; ///< of conditions at walls: so many nodes that follow on each other run as this one

  [[nodiscard]] constexpr entry_kind what() const { return about->what; }
};

/// The sides of a level of a variable, of those that are there, whose walls `count` entries leave as they are, at least
/// in part. `width`: layers of ghosts, if that is known.
constexpr unsigned sides_left(schedule_node const* entries, std::size_t count, request const& asked,
                              variable_info const& about, unsigned there = wall_condition::all_sides, int width = -1) {
  for (schedule_node const* n = entries; n != entries + count; ++n)
    for (wall_condition const* c = n->about->conditions; c->variable != nullptr; ++c)
      if (*c->variable == about && c->level == asked.level && c->what != wall_values::none)
        there &= c->possible & ~((width < 0 ? c->leaves_layers : c->layers < width) ? 0 : c->sides);
  return there;
}

} // namespace keel::residency::detail
