// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks selected by the devices of their nodes.

#include <keel/machine/by_memory.hpp>
#include <keel/machine/collectives.hpp>
#include <keel/topology/node.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keel::machine {

namespace detail {

/// The device that placement gives to a rank, and how many steps it is from its cores.
struct device_of_rank {
  int node = 0;    ///< by the first rank on it
  int device = -1; ///< none
  int steps = 0;
  bool is_near = false; ///< no core of the node is nearer to the device
};

/// Of every rank of `env`, by rank. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::vector<device_of_rank> devices_of(basic_environment<R> const& env, topology::node const& on) {
  auto const here = env.node();
  device_of_rank mine{.node = env.rank()};
  broadcast(here, mine.node, 0);
  auto const place = place_on(on, here.rank(), here.size());
  std::optional<int> own, best;
  if (!on.devices().empty() && !place.cores.empty()) {
    // The launcher may have bound the rank elsewhere than placement would: then the nearest GPU counts.
    mine.device = place.device;
    for (auto const& d : on.devices()) {
      if (d.type != topology::device_type::gpu || (mine.device >= 0 && d.id != mine.device)) continue;
      for (int const c : place.cores)
        if (int const steps = on.distance_to_device(c, d.id); !own || steps < *own) own = steps, mine.device = d.id;
    }
    for (auto const& c : on.cores())
      if (mine.device >= 0)
        if (int const steps = on.distance_to_device(c.id, mine.device); !best || steps < *best) best = steps;
  }
  mine.steps = own.value_or(0);
  mine.is_near = mine.device >= 0 && own && best && *own == *best;
  return all_gather(env, mine);
}

[[nodiscard]] inline chosen or_refuse(std::vector<int> ranks, char const* selection, char const* why) {
  if (ranks.empty()) throw error(std::string{"machine::"} + selection, "no rank is selected", why, "Start without it");
  return chosen{std::move(ranks)};
}

} // namespace detail

/// One rank for each GPU of each node that ranks were placed at: of those that share it the nearest, of equals the
/// first. `environment{world, one_per_device}`; on a node of your own, `one_per_device.on(node)`. Throws on every rank
/// where no GPU is.
struct one_per_device_selection {
  topology::node const* node = nullptr;
  [[nodiscard]] constexpr one_per_device_selection on(topology::node const& other) const { return {&other}; }

  template <CommunicatingRanks R>
  [[nodiscard]] chosen choose(basic_environment<R> const& parent) const {
    auto const all = detail::devices_of(parent, node == nullptr ? topology::node::here() : *node);
    std::vector<int> ranks;
    for (std::size_t r = 0; r < all.size(); ++r) {
      bool is_best = all[r].device >= 0;
      for (std::size_t other = 0; other < all.size(); ++other)
        if (all[other].node == all[r].node && all[other].device == all[r].device)
          is_best = is_best && std::pair{all[r].steps, r} <= std::pair{all[other].steps, other};
      if (is_best) ranks.push_back(int(r));
    }
    return detail::or_refuse(std::move(ranks), "one_per_device", "no node has a GPU");
  }
};
inline constexpr one_per_device_selection one_per_device;

/// The ranks whose cores are as near to their GPU as any of the node.
struct near_device_selection {
  topology::node const* node = nullptr;
  [[nodiscard]] constexpr near_device_selection on(topology::node const& other) const { return {&other}; }

  template <CommunicatingRanks R>
  [[nodiscard]] chosen choose(basic_environment<R> const& parent) const {
    auto const all = detail::devices_of(parent, node == nullptr ? topology::node::here() : *node);
    std::vector<int> ranks;
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].is_near) ranks.push_back(int(r));
    return detail::or_refuse(std::move(ranks), "near_device", "no rank is near a GPU");
  }
};
inline constexpr near_device_selection near_device;

} // namespace keel::machine
