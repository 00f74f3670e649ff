// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Ranks selected by the devices of their nodes.

#include <keel/machine/collectives.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/node.hpp>

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

/// The device of the `rank`-th of `size` ranks on a node, on this machine if `on` is null. The caller sets `node`.
[[nodiscard]] device_of_rank device_of(topology::node const* on, int rank, int size);

/// The devices of all ranks of `env`, by rank. Collective.
template <CommunicatingRanks R>
[[nodiscard]] std::vector<device_of_rank> devices_of(basic_environment<R> const& env, topology::node const* on) {
  auto const here = env.node();
  int node = env.rank();
  broadcast(here, node, 0);
  auto mine = device_of(on, here.rank(), here.size());
  mine.node = node;
  return all_gather(env, mine);
}

/// The ranks that the selections below choose, by what all ranks have.
[[nodiscard]] chosen nearest_to_each(std::vector<device_of_rank> const& all);
[[nodiscard]] chosen near_their_own(std::vector<device_of_rank> const& all);

} // namespace detail

/// Ranks by what all have. On a node of your own: `one_per_device.on(node)`. Throws on every rank if there is no GPU.
template <chosen (*Choose)(std::vector<detail::device_of_rank> const&)>
struct selection_by_device {
  topology::node const* node = nullptr;
  [[nodiscard]] constexpr selection_by_device on(topology::node const& other) const { return {&other}; }

  template <CommunicatingRanks R>
  [[nodiscard]] chosen choose(basic_environment<R> const& parent) const {
    return Choose(detail::devices_of(parent, node));
  }
};
/// One rank for each GPU of each node that ranks were placed at: of those that share it the nearest, of equals the
/// first. `environment{world, one_per_device}`.
inline constexpr selection_by_device<detail::nearest_to_each> one_per_device;
/// The ranks whose cores are as near to their GPU as any of the node.
inline constexpr selection_by_device<detail::near_their_own> near_device;

} // namespace keel::machine

#if !KEEL_COMPILED
#include <keel/impl/machine/per_device.ipp>
#endif
