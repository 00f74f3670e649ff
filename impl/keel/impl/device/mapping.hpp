// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which accelerator a rank takes, and how many threads, if no knob says it: arithmetic, and what ranks of a node tell
/// one another for it.

#include <keel/device/knobs.hpp>
#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/policy/macros.hpp>
#include <keel/topology/node.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace keel::device {

/// What decides about a rank's accelerator.
struct mapping_facts {
  int node_rank = 0;                      ///< this rank among those of its node, from 0
  std::span<std::string const> visible{}; ///< PCI ids of the accelerators that this process sees, by instance
  std::string_view nearest{};             ///< PCI id of the one that placement gave to this rank; empty for none
  std::optional<int> limit{};             ///< how many may be used, if a knob says it
};

/// The instance to take; empty if there is none, or the mapping is `none`.
///
/// `rank` deals the visible ones round robin by node-local rank. `nearest` takes the one that placement
/// gave to this rank, if it is visible and within the limit, and deals otherwise: a list that the
/// launcher has already cut to this rank's own is taken as it is.
[[nodiscard]] std::optional<int> map_device(device_mapping how, mapping_facts const& facts);

/// The GPU that a launcher's binding gives to rank `mine` of a node, as an id of the node's devices; -1 for none.
///
/// `threads` holds, by node-local rank, the first hardware thread that each rank is bound to, by the system's
/// numbers. In order, each rank takes the GPU that is shared the least, of those the nearest, of those the least used:
/// so every context, one where they are unknown, is used before one is doubled, and no rank goes far while a near one
/// is free; none that is full is taken. A rank whose thread this process does not see (a batch system has cut the node
/// for each) takes part without a place.
[[nodiscard]] int nearest_gpu(topology::node const& node, std::span<int const> threads, std::size_t mine);

/// The threads that a rank takes if no knob says it: of the hardware threads that it may use, its part
/// among the ranks that may use the very same ones. At least one.
[[nodiscard]] inline int share_of_threads(int allowed, int ranks_sharing) {
  return std::max(allowed / std::max(ranks_sharing, 1), 1);
}

/// What keel takes of each device if no knob says it: the part of the threads that `rank` of a node has, and the
/// accelerator that it is near, or that its place has. `told` is the `thread_bits` of the ranks of the node. The node
/// is looked up only where it decides.
void propose(std::span<changeable_knobs const> devices, int rank, std::span<char const> told, placed_rank const& placed,
             program_settings const& program, own_node const& node);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/mapping.ipp>
#endif
