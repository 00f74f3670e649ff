// SPDX-License-Identifier: MIT
#include <keel/machine/per_device.hpp>
#include <keel/policy/error.hpp>
#include <keel/topology/binding.hpp>
#include <keel/topology/node.hpp>
#include <keel/topology/placement.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace keel::machine::detail {

KEEL_INLINE device_of_rank device_of(topology::node const* given, int rank, int size) {
  topology::node const on = given == nullptr ? topology::node::here() : *given; // a copy shares what was read
  device_of_rank mine;
  auto place = on.place(size)[std::size_t(rank)];
  if (auto const bound = topology::bound_cores(on); !bound.empty() && bound.size() < on.cores().size())
    place.cores = bound;
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
  return mine;
}

inline chosen or_refuse(std::vector<int> ranks, char const* selection, char const* why) {
  if (ranks.empty()) throw error(std::string{"machine::"} + selection, "no rank is selected", why, "Start without it");
  return chosen{std::move(ranks)};
}

KEEL_INLINE chosen nearest_to_each(std::vector<device_of_rank> const& all) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < all.size(); ++r) {
    bool is_best = all[r].device >= 0;
    for (std::size_t other = 0; other < all.size(); ++other)
      if (all[other].node == all[r].node && all[other].device == all[r].device)
        is_best = is_best && std::pair{all[r].steps, r} <= std::pair{all[other].steps, other};
    if (is_best) ranks.push_back(int(r));
  }
  return or_refuse(std::move(ranks), "one_per_device", "no node has a GPU");
}

KEEL_INLINE chosen near_their_own(std::vector<device_of_rank> const& all) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].is_near) ranks.push_back(int(r));
  return or_refuse(std::move(ranks), "near_device", "no rank is near a GPU");
}

} // namespace keel::machine::detail
