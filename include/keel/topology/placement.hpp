// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Where a rank runs, and the rules by which ranks are placed on a node.

#include <keel/topology/id_set.hpp>
#include <keel/topology/objects.hpp>

#include <optional>

namespace keel::topology {

/// The place of one rank. Its cores are its own, unless there are more ranks than hardware
/// threads; two ranks on one core have different hardware threads of it as far as they go.
struct placement {
  id_set cores;            ///< ids of cores
  int memory = -1;         ///< id of the nearest ordinary memory; -1 if the node lists none
  int device = -1;         ///< id of the device it should use; -1 is none
  id_set hardware_threads; ///< the system's numbers, to bind to
};

/// Which cores ranks get.
///
/// | order | cores | when |
/// |---|---|---|
/// | `spread` | all, cut along the tree into near and equal parts | the ranks have the node for themselves |
/// | `compact` | one for each rank, the first ones | the rest of the node is for others, or few ranks talk much |
/// | `by_device` | of each device's locality, for the ranks that use it | the devices do the work |
enum class order { spread, compact, by_device };

/// A rule for placing ranks; by default all that the node has, spread.
struct placing {
  topology::order order = topology::order::spread;
  std::optional<id_set> within{};           ///< only these cores: `bound_cores(node)`, say
  std::optional<id_set> hardware_threads{}; ///< only these, by the system's numbers: `bound_hardware_threads()`, say
  int threads_per_core = 0;                 ///< hardware threads used of each core; 0 is all
  device_type device = device_type::gpu;    ///< what `placement::device` is looked for among
  bool greedy = true; ///< spread ranks that are fewer than the memories have cores near several; else near one each
};

} // namespace keel::topology
