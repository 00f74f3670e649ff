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

} // namespace keel::device
