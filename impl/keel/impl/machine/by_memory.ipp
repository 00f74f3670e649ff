// SPDX-License-Identifier: MIT
#include <keel/impl/machine/by_memory.hpp>
#include <keel/topology/binding.hpp>

#include <optional>

namespace keel::machine {

KEEL_INLINE topology::placement place_on(topology::node const& on, int rank, int size) {
  auto place = on.place(size)[std::size_t(rank)];
  auto const bound = topology::bound_cores(on);
  if (bound.empty() || bound.size() == on.cores().size()) return place;
  place.cores = bound;
  int const first = *bound.begin();
  std::optional<int> least;
  for (auto const& m : on.memories()) {
    if (m.type != topology::memory_type::dram) continue;
    int const steps = on.distance_to_memory(first, m.id);
    if (least && *least <= steps) continue;
    least = steps;
    place.memory = m.id;
  }
  return place;
}

} // namespace keel::machine
