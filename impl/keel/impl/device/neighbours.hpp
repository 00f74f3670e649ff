// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The ranks that share this node, and what they share of it.

#include <keel/impl/device/bound_rank.hpp>
#include <keel/impl/device/device_knobs.hpp>
#include <keel/impl/device/own_node.hpp>
#include <keel/device/values.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <span>

namespace keel::device {

/// What a rank sends its neighbours about the hardware threads that it may use.
struct told_threads {
  std::size_t hash = 0; ///< of all of them
  int first = -1;       ///< by the system's number; -1 for none

  [[nodiscard]] static told_threads own();
};

/// What keel takes of each device if no knob says it: the part of the threads that `rank` of a node has, and the
/// accelerator that it is near, or that its place has. `told` is the `told_threads` of the ranks of the node. The node
/// is looked up only where it decides.
void propose(std::span<changeable_knobs const> devices, int rank, std::span<char const> told, placed_rank const& placed,
             program_settings const& program, own_node const& node);

} // namespace keel::device

#if !KEEL_COMPILED
#include <keel/impl/device/neighbours.ipp>
#endif
