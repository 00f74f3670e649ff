// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which ranks fields exchange ghosts with, and what: bodies of fields_state.hpp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// The widest ghosts of a rank of any component.
inline int layers_of(std::span<share const> shares) {
  if (!shares[0].ends.empty()) return int(shares[0].ends.size()) - 1;
  std::int64_t most = 0;
  for (share const& s : shares)
    for (int d = 0; d < s.rank; ++d) most = std::max(most, s.width[d] + s.longer[d]);
  return int(most);
}

KEEL_INLINE int fields_state::layers(int variable) const { return layers_of(shares_here(variable)); }

KEEL_INLINE int fields_state::width(int variable) const {
  std::int64_t most = 0;
  for (share const& s : shares_here(variable))
    for (int k = 0; k < s.rank; ++k) most = std::max(most, s.width[k]);
  return int(most);
}

KEEL_INLINE unsigned fields_state::wall_sides(int variable) const {
  unsigned const along = variables_[std::size_t(variable)].about->on.along;
  unsigned sides = 0;
  for (share const& s : shares_here(variable))
    for (int d = 0, k = 0; d < max_grid_rank && k < s.rank; ++d)
      if (along == 0 || (along >> d & 1) != 0) {
        if (s.width[k] > 0 && !s.wraps[std::size_t(k)]) sides |= 3U << (2 * d);
        ++k;
      }
  return sides;
}

KEEL_INLINE decomposition const& fields_state::cut_of(int lattice, int layers) {
  lattice_record& l = lattices_[std::size_t(lattice)];
  if (layers >= layers_of(*l.shares)) layers = all_layers;
  for (auto const& known : l.cuts)
    if (known.first == layers) return *known.second;
  auto made = l.mesh ? l.mesh->cut(components(), layers) : decomposition_of(*l.shares, components(), rank_, layers);
  return *l.cuts.emplace_back(layers, std::make_unique<decomposition>(std::move(made))).second;
}

KEEL_INLINE std::vector<int> fields_state::partners() {
  std::vector<int> ranks;
  for (lattice_record& l : lattices_)
    for (partner const& p : cut_of(int(&l - lattices_.data()), all_layers).partners) ranks.push_back(p.rank);
  return ranks;
}

KEEL_INLINE bool fields_state::reaches_partners() {
  auto const all = partners();
  return std::all_of(all.begin(), all.end(), [&](int rank) { return routes_.leads_to(rank); });
}

KEEL_INLINE void fields_state::connect(std::vector<transport> transports, messenger const& ranks, memory m) {
  copy_queue const none, *const queue = exchange_queue_ = m != host ? &provider_.queue_of(m) : nullptr;
  try {
    routes made;
    made.connect(std::move(transports), ranks, queue != nullptr ? *queue : none, partners(), settings_);
    routes_ = std::move(made);
  } catch (error const&) {
    throw;
  } catch (std::exception const& e) { // of a device
    throw error("residency::fields", "transports cannot be tried", e.what(),
                "Take " + settings_.exchange_through_name + "=staged");
  }
}

} // namespace keel::residency::detail
