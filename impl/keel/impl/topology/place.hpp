// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// From cores for each rank to whole placements: its memory, its device, its hardware threads.

#include <keel/impl/topology/discover.hpp>
#include <keel/impl/topology/spread.hpp>
#include <keel/topology/placement.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace keel::topology::impl {

/// Steps from the nearest core of a set.
inline int distance_from(inventory const& all, id_set const& cores, int place) {
  int least = std::numeric_limits<int>::max();
  for (int const c : cores) least = std::min(least, all.tree.distance(all.core_places[std::size_t(c)], place));
  return least;
}

/// To each rank the nearest memory made for programs; of equally near ones the least used.
inline void choose_memories(inventory const& all, std::vector<placement>& ranks) {
  auto const ordinary = [](memory const& m) { return m.type == memory_type::dram || m.type == memory_type::cache_side; };
  bool const some = std::any_of(all.memories.begin(), all.memories.end(), ordinary);
  std::vector<int> users(all.memories.size(), 0);
  for (auto& rank : ranks) {
    auto best = std::pair{std::numeric_limits<int>::max(), 0};
    for (auto const& m : all.memories) {
      if (some && !ordinary(m)) continue;
      int const steps = distance_from(all, rank.cores, all.memory_places[std::size_t(m.id)]);
      if (auto const how = std::pair{steps, users[std::size_t(m.id)]}; how < best) {
        best = how;
        rank.memory = m.id;
      }
    }
    if (rank.memory >= 0) ++users[std::size_t(rank.memory)];
  }
}

/// To each rank a device, the nearest pairs first; none twice before all are taken once, and none
/// by more ranks than it has contexts: those left over have none.
inline void choose_devices(inventory const& all, std::vector<placement>& ranks, device_type wanted) {
  struct pair {
    int steps, rank, device;
  };
  std::vector<pair> pairs;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (auto const& d : all.devices)
      if (wanted == device_type::any || d.type == wanted)
        pairs.push_back({distance_from(all, ranks[r].cores, all.device_places[std::size_t(d.id)]), int(r), d.id});
  std::stable_sort(pairs.begin(), pairs.end(), [](pair const& a, pair const& b) { return a.steps < b.steps; });
  std::vector<int> users(all.devices.size(), 0);
  for (bool again = !pairs.empty(); again;) {
    again = false;
    std::vector<int> const before = users; // once through all pairs gives each device at most one rank
    for (auto const& [steps, rank, device] : pairs) {
      auto& count = users[std::size_t(device)];
      int const most = all.devices[std::size_t(device)].contexts;
      bool const full = count > before[std::size_t(device)] || (most > 0 && count == most);
      if (full || ranks[std::size_t(rank)].device != -1) continue;
      ranks[std::size_t(rank)].device = device;
      ++count;
      again = true;
    }
  }
}

/// Ranks on one core part its hardware threads; more ranks than threads share them evenly.
inline void choose_threads(inventory const& all, std::vector<placement>& ranks, int threads_per_core) {
  std::vector<std::vector<placement*>> on(all.cores.size());
  for (auto& rank : ranks)
    for (int const c : rank.cores) on[std::size_t(c)].push_back(&rank);
  for (auto const& c : all.cores) {
    auto const& users = on[std::size_t(c.id)];
    std::vector<int> threads(c.hardware_threads.begin(), c.hardware_threads.end());
    if (threads_per_core > 0)
      threads.resize(std::min(threads.size(), std::size_t(threads_per_core)));
    auto const n = users.size(), have = threads.size();
    for (std::size_t u = 0; u < n; ++u) {
      auto const first = u * have / n, end = std::max((u + 1) * have / n, first + 1);
      for (auto t = first; t < end; ++t) users[u]->hardware_threads.insert(threads[t]);
    }
  }
}

/// Deals ranks to devices in blocks, and spreads those of one locality over its cores. Where the
/// localities of two devices nest, there is no fair share of cores, and nothing is made.
inline std::vector<placement> near_devices(inventory const& all, usable_cores const& usable, placing const& rule, int ranks) {
  std::vector<int> dealt; // the device of each rank
  std::vector<int> devices;
  for (auto const& d : all.devices)
    if (rule.device == device_type::any || d.type == rule.device) devices.push_back(d.id);
  if (devices.empty())
    throw error("topology", "ranks cannot be placed by device",
                all.source + " has no " + std::string{to_string(rule.device)}, "Place them spread", ENODEV);
  auto const place_of = [&](int device) { // where cores may be used
    int at = all.device_places[std::size_t(device)];
    while (usable.cores({all.tree[at].first_core, all.tree[at].end_core}) == 0) at = all.tree[at].parent;
    return at;
  };
  auto const count = static_cast<long long>(devices.size());
  for (int r = 0; r < ranks; ++r)
    dealt.push_back(devices[std::size_t(ranks < count ? (2 * r + 1) * count / (2 * ranks) : r * count / ranks)]);
  for (int const d : devices)
    if (int const most = all.devices[std::size_t(d)].contexts; most > 0 && std::count(dealt.begin(), dealt.end(), d) > most)
      throw error("topology", std::to_string(ranks) + " ranks cannot be placed by device",
                  all.devices[std::size_t(d)].name + " serves no more than " + std::to_string(most), "Place fewer", EBUSY);

  std::vector<placement> made(static_cast<std::size_t>(ranks));
  std::vector<int> places;
  for (int const d : dealt) places.push_back(place_of(d));
  auto distinct = places;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (std::size_t p = 1; p < distinct.size(); ++p)
    if (all.tree.inside(distinct[p], distinct[p - 1])) return {};
  for (int const place : distinct) {
    auto const pieces = spreading{all, usable, place, int(std::count(places.begin(), places.end(), place))}.take();
    auto piece = pieces.begin();
    for (std::size_t r = 0; r < made.size(); ++r)
      if (places[r] == place) {
        made[r].cores = id_set::range(piece->first, piece->end);
        made[r].device = dealt[r];
        ++piece;
      }
  }
  return made;
}

inline std::vector<placement> place(inventory const& all, int ranks, placing const& rule) {
  if (ranks < 1)
    throw error("topology", std::to_string(ranks) + " ranks cannot be placed", "there must be one or more", {}, EINVAL);
  if (rule.threads_per_core < 0)
    throw error("topology", std::to_string(rule.threads_per_core) + " threads of a core cannot be used", {},
                "Say 0 for all", EINVAL);
  usable_cores const usable{all, rule};
  int const cores = int(all.cores.size());
  if (usable.cores({0, cores}) == 0)
    throw error("topology", "ranks cannot be placed", "the rule leaves no core of " + all.source, "Allow some", EINVAL);

  std::vector<placement> made;
  if (rule.order == order::by_device) made = near_devices(all, usable, rule, ranks);
  bool const have_devices = !made.empty();
  if (!have_devices) {
    auto const pieces = rule.order == order::compact ? packed(usable, cores, ranks) : spreading{all, usable, 0, ranks}.take();
    for (auto const& [first, end] : pieces) {
      made.emplace_back();
      made.back().cores = id_set::range(first, end);
    }
  }
  if (rule.within)
    for (auto& rank : made) rank.cores &= *rule.within;
  choose_memories(all, made);
  if (!have_devices) choose_devices(all, made, rule.device);
  choose_threads(all, made, rule.threads_per_core);
  return made;
}

} // namespace keel::topology::impl
