// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The place of a rank on its node, and the ranks that share a NUMA memory.

#include <keel/machine/environment.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/node.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace keel::machine {

/// The cores, memory and device of a rank: the `rank`-th of `size` on this node. If the
/// launcher bound it to some of the cores, those and what is nearest to them; else what placing all over the node
/// gives. No communication.
[[nodiscard]] topology::placement place_on(topology::node const& on, int rank, int size);

template <Ranks R>
template <class Node>
basic_environment<R> basic_environment<R>::by_memory(Node const& on) const
  requires(CommunicatingRanks<R> || SimulatedRanks<R>)
{
  if (!is_member()) return non_member();
  auto const ranks_here = node();
  if constexpr (SimulatedRanks<R>) {
    auto const places = on.place(ranks_here.size());
    return ranks_here.split([&](int rank) { return std::max(0, places[std::size_t(rank)].memory); });
  } else {
    int const memory = place_on(on, ranks_here.rank(), ranks_here.size()).memory;
    return ranks_here.split(memory < 0 ? 0 : memory);
  }
}

template <Ranks R>
basic_environment<R> basic_environment<R>::by_memory() const
  requires(CommunicatingRanks<R> || SimulatedRanks<R>)
{
  return by_memory(topology::node::here());
}

inline topology::placement place_on(topology::node const& on, int rank, int size) {
  auto place = on.place(size)[std::size_t(rank)];
  auto const bound = topology::bound_cores(on);
  if (bound.empty() || bound.size() == on.cores().size()) return place;
  place.cores = bound;
  int const first = *bound.begin();
  std::optional<int> least;
  for (auto const& m : on.memories()) {
    if (m.type != topology::memory_type::dram) continue;
    int const steps = on.distance_to_memory(first, m.id);
    if (least && *least <= steps) continue;
    least = steps;
    place.memory = m.id;
  }
  return place;
}

} // namespace keel::machine
