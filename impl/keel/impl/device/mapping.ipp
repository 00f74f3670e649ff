// SPDX-License-Identifier: MIT
#include <keel/impl/device/mapping.hpp>

#include <array>
#include <vector>

namespace keel::device {

KEEL_INLINE std::optional<int> map_device(device_mapping how, mapping_facts const& facts) {
  int count = int(facts.visible.size());
  if (facts.limit) count = std::min(count, *facts.limit);
  if (how == device_mapping::none || count == 0) return std::nullopt;
  if (how == device_mapping::nearest && !facts.nearest.empty()) {
    auto const usable = facts.visible.first(std::size_t(count));
    auto const found = std::find(usable.begin(), usable.end(), facts.nearest);
    if (found != usable.end()) return int(found - usable.begin());
  }
  return facts.node_rank % count;
}

KEEL_INLINE int nearest_gpu(topology::node const& node, std::span<int const> threads, std::size_t mine) {
  std::vector<int> takers(node.devices().size(), 0);
  int taken = -1;
  for (std::size_t rank = 0; rank <= mine; ++rank) {
    auto const at = std::find_if(node.cores().begin(), node.cores().end(),
                                 [&](topology::core const& c) { return c.hardware_threads.contains(threads[rank]); });
    taken = -1;
    std::array<int, 3> best{};
    for (auto const& d : node.devices()) {
      if (d.type != topology::device_type::gpu) continue;
      int const users = takers[std::size_t(d.id)];
      if (d.contexts > 0 && users >= d.contexts) continue;
      std::array const cost{d.contexts > 0 ? 0 : users,
                            at == node.cores().end() ? 0 : node.distance_to_device(at->id, d.id), users};
      if (taken < 0 || cost < best) taken = d.id, best = cost;
    }
    if (taken >= 0) ++takers[std::size_t(taken)];
  }
  return taken;
}

namespace detail {

/// A rank among those of its node.
struct neighbours {
  int rank, size;
  int sharing_cores = 0;          ///< ranks that may run on the very same hardware threads, this one included
  std::vector<int> first_threads; ///< the first hardware thread of each rank of the node

  neighbours(int own_rank, std::span<char const> told) : rank(own_rank), size(int(told.size() / sizeof(thread_bits))) {
    auto const of = [&](int r) { return told.subspan(std::size_t(r) * sizeof(thread_bits), sizeof(thread_bits)); };
    for (int r = 0; r < size; ++r) {
      sharing_cores += std::equal(of(r).begin(), of(r).end(), of(rank).begin());
      auto const threads = threads_of_any(of(r));
      first_threads.push_back(threads.empty() ? -1 : *threads.begin());
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
