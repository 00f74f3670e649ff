// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The ranks that share this node, and what they share of it.

#include <keel/device/mapping.hpp>
#include <keel/device/table.hpp>
#include <keel/machine.hpp>
#include <keel/policy/tags.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace keel::device {

/// This rank among those of its node.
struct neighbours {
  int rank = 0, size = 1;
  int sharing_cores = 1;          ///< ranks that may run on the very same hardware threads, this one included
  std::vector<int> first_threads; ///< the first hardware thread of each rank of the node
  std::optional<topology::placement> place{}; ///< of this rank, where `--keel-bind` has bound it

  /// Collective.
  template <class Environment>
  [[nodiscard]] static neighbours of(Environment const& all_ranks) {
    auto const node = all_ranks.node();
    auto const bound = topology::bound_hardware_threads();
    auto const mine = std::hash<std::string>{}(to_string(bound));
    auto const all = machine::all_gather(node, mine);
    return {node.rank(), node.size(), static_cast<int>(std::count(all.begin(), all.end(), mine)),
            machine::all_gather(node, bound.empty() ? -1 : *bound.begin()), {}};
  }
};

/// The accelerator of the device `Tag` that this rank takes where no knob chose one. `node()` is asked only where it
/// decides.
template <class Tag, class Node>
[[nodiscard]] std::optional<int> mapped_instance(neighbours const& here, program_settings const& program,
                                                 Node const& node) {
  using traits = device_traits<Tag>;
  std::vector<std::string> visible;
  for (int i = 0; i < traits::max_devices(); ++i) visible.push_back(traits::pci_id(i));
  auto const how = program.map_device_by;
  mapping_facts facts{.node_rank = here.rank, .visible = visible, .limit = program.num_devices};
  if (how == device_mapping::nearest && !visible.empty()) {
    auto const me = static_cast<std::size_t>(here.rank);
    bool const is_bound = here.sharing_cores < here.size;
    int const id = here.place ? here.place->device
                   : is_bound ? nearest_gpu(node(), here.first_threads, me)
                              : node().place(here.size)[me].device;
    if (id >= 0) facts.nearest = node().devices()[static_cast<std::size_t>(id)].pci_id;
  }
  return map_device(how, facts);
}

} // namespace keel::device
