// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The laws of nearness and of steps, for any node.

#include <keel/topology/id_set.hpp>
#include <keel/topology/objects.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace keel::laws {

/// More steps than any tree is high, and than there are latencies.
inline constexpr int far_enough = 32;

/// `ask` is one of the three questions: `ask(core, type, min, max)` gives a set; `count` is how many there are in all.
/// (0, -1) is everything; shells of one step are disjoint and make everything; [0, a] grows with a,
/// and splits at every border; any type is the union of the types.
template <class Type, class Ask>
void nearness(int cores, std::size_t count, std::vector<Type> const& types, Type any, Ask const& ask) {
  using topology::id_set;
  auto const everything = id_set::range(0, int(count));
  for (int core = 0; core < cores; ++core) {
    REQUIRE(ask(core, any, 0, -1) == everything);
    id_set inner;
    for (int steps = 0; steps < far_enough; ++steps) {
      auto const shell = ask(core, any, steps, steps);
      REQUIRE((inner & shell).empty());
      inner |= shell;
      REQUIRE(ask(core, any, 0, steps) == inner);
      REQUIRE((ask(core, any, steps + 1, -1) | inner) == everything);
      REQUIRE((ask(core, any, steps + 1, far_enough) & inner).empty());
      id_set of_types;
      for (auto const type : types) {
        auto const of_type = ask(core, type, 0, steps);
        REQUIRE((of_types & of_type).empty());
        of_types |= of_type;
      }
      REQUIRE(of_types == inner);
    }
    REQUIRE(inner == everything);
  }
}

/// Steps can be compared between cores. Two cores are as far from each other both ways; and what a core reaches in so
/// many steps is as far from each core that it reaches sooner, and no farther from each that it reaches just then.
/// `between(a, b)` counts steps between cores, `to(core, thing)` those to one of `things`.
void steps_compare(int cores, int things, auto const& between, auto const& to) {
  for (int a = 0; a < cores; ++a)
    for (int b = 0; b < cores; ++b) {
      int const apart = between(a, b);
      REQUIRE(apart == between(b, a));
      REQUIRE((apart == 0) == (a == b));
      for (int t = 0; t < things; ++t) {
        int const steps = to(a, t);
        if (apart < steps) REQUIRE(to(b, t) == steps);
        if (apart == steps) REQUIRE(to(b, t) <= steps);
      }
    }
}

/// Distances to memories rise with the pair of steps and latency, and are equal only where the pairs are; they are the
/// steps where no latency is known. `within` finds exactly what has a latency that short. Where only latencies are
/// known, a memory that is at least as far from every core as another is not faster.
template <class Node>
void latencies(Node const& node) {
  using topology::memory_type, topology::within;
  int const cores = int(node.cores().size()), memories = int(node.memories().size());
  bool knows_latency = false, knows_bandwidth = false;
  std::map<std::pair<int, std::uint64_t>, int> distances;
  for (int c = 0; c < cores; ++c)
    for (int m = 0; m < memories; ++m) {
      auto const latency = node.latency(c, m);
      knows_latency = knows_latency || latency.has_value();
      knows_bandwidth = knows_bandwidth || node.bandwidth(c, m).has_value();
      int const steps = node.steps_to_memory(c, m), distance = node.distance_to_memory(c, m);
      auto const pair = std::pair{steps, latency.value_or(~std::uint64_t{0})};
      REQUIRE(distances.emplace(pair, distance).first->second == distance);
      if (latency.has_value()) {
        REQUIRE(node.nearby_memories(c, memory_type::any, within{*latency}).contains(m));
        REQUIRE_FALSE(node.nearby_memories(c, memory_type::any, within{*latency - 1}).contains(m));
      }
    }
  for (auto at = distances.begin(); at != distances.end(); ++at) {
    if (!knows_latency) REQUIRE(at->second == at->first.first);
    if (at != distances.begin()) REQUIRE(std::prev(at)->second < at->second);
  }
  REQUIRE(knows_latency == (node.unit_of_latencies() != topology::latency_unit::unknown));
  if (knows_bandwidth) return;
  for (auto const& a : node.memories())
    for (auto const& b : node.memories()) {
      bool is_farther = true;
      for (int c = 0; c < cores; ++c) {
        auto const to_a = node.latency(c, a.id), to_b = node.latency(c, b.id);
        is_farther = is_farther && to_a && to_b && *to_a >= *to_b;
      }
      if (is_farther && cores > 0) REQUIRE(a.relative_speed <= b.relative_speed);
    }
}

} // namespace keel::laws
