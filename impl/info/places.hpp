// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where the ranks of a traced run were allowed to run, if that is the node drawn.

#include "trace_data.hpp"

#include <keel/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace keel::info {

/// A rank's host, its hardware threads as the system numbers them, and the cores of the drawn node that these are of.
struct rank_place {
  int rank;
  std::string host;
  topology::id_set threads, cores = {}; ///< no cores if the node is not the rank's
};

/// The places of the ranks, by rank; those whose system told no threads have none. `host` is the node's name; without one the node is
/// taken as that of each rank.
inline std::vector<rank_place> places_of(trace_data const& all, topology::node const& node,
                                         std::optional<std::string> const& host) {
  std::vector<rank_place> made;
  std::set<int> known;
  for (auto const& h : all.headers) {
    if (h.threads.empty() || !known.insert(h.rank).second) continue;
    rank_place place{h.rank, h.host, h.threads};
    auto rest = h.threads;
    for (auto const& core : node.cores())
      if (!(core.hardware_threads & h.threads).empty()) place.cores.insert(core.id), rest -= core.hardware_threads;
    if ((host && *host != h.host) || !rest.empty()) place.cores = {};
    made.push_back(std::move(place));
  }
  std::sort(made.begin(), made.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
  return made;
}

/// What is drawn: the ranks of the host that comes first, on their cores. Nothing if no cores are known.
inline std::vector<topology::placement> drawn_places(std::vector<rank_place> const& all) {
  constexpr int rank_end = 1 << 16; // a picture of more is of no use
  std::vector<topology::placement> made;
  std::string const* host = nullptr;
  for (auto const& p : all) {
    if (p.cores.empty() || p.rank >= rank_end || (host != nullptr && *host != p.host)) continue;
    host = &p.host;
    made.resize(std::size_t(p.rank) + 1);
    made.back().cores = p.cores, made.back().hardware_threads = p.threads;
  }
  return made;
}

} // namespace keel::info
