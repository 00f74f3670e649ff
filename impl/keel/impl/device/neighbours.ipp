// SPDX-License-Identifier: MIT
#include <keel/impl/device/neighbours.hpp>
#include <keel/impl/device/mapping.hpp>
#include <keel/topology/affinity.hpp>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace keel::device {

KEEL_INLINE told_threads told_threads::own() {
  auto const threads = topology::bound_hardware_threads();
  return {std::hash<std::string>{}(to_string(threads)), threads.empty() ? -1 : *threads.begin()};
}

namespace detail {

/// A rank among those of its node.
struct neighbours {
  int rank, size;
  int sharing_cores = 0;          ///< ranks that may run on the very same hardware threads, this one included
  std::vector<int> first_threads; ///< the first hardware thread of each rank of the node

  neighbours(int own_rank, std::span<char const> told) : rank(own_rank), size(int(told.size() / sizeof(told_threads))) {
    auto all = std::vector<told_threads>(std::size_t(size));
    std::memcpy(all.data(), told.data(), told.size());
    for (auto const& one : all) {
      sharing_cores += one.hash == all[std::size_t(rank)].hash;
      first_threads.push_back(one.first);
    }
  }
};

/// The accelerator of a device that this rank takes if no knob chose one.
[[nodiscard]] inline std::optional<int> mapped_instance(device_facts const& device, neighbours const& here,
                                                        placed_rank const& placed, program_settings const& program,
                                                        own_node const& own) {
  std::vector<std::string> visible;
  for (int i = 0; i < device.max_devices(); ++i) visible.push_back(device.pci_id(i));
  auto const how = program.map_device_by;
  mapping_facts facts{.node_rank = here.rank, .visible = visible, .limit = program.num_devices};
  if (how == device_mapping::nearest && !visible.empty()) {
    auto const& node = own.get();
    auto const me = std::size_t(here.rank);
    bool const is_bound = here.sharing_cores < here.size;
    int const id = placed.place() ? placed.place()->device
                   : is_bound     ? nearest_gpu(node, here.first_threads, me)
                                  : node.place(here.size)[me].device;
    if (id >= 0) facts.nearest = node.devices()[std::size_t(id)].pci_id;
  }
  return map_device(how, facts);
}

} // namespace detail

KEEL_INLINE void propose(std::span<changeable_knobs const> devices, int rank, std::span<char const> told,
                         placed_rank const& placed, program_settings const& program, own_node const& node) {
  detail::neighbours const here{rank, told};
  for (auto const& d : devices) {
    if (d.device->default_threads != nullptr)
      d.propose(knob::threads, share_of_threads(d.device->default_threads(), here.sharing_cores));
    d.propose(knob::numa_regions, 1);
    if (d.device->max_devices != nullptr)
      if (auto const instance = detail::mapped_instance(*d.device, here, placed, program, node))
        d.propose(knob::device_instance, *instance);
  }
}

} // namespace keel::device
