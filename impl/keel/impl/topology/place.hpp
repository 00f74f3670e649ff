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

namespace keel::topology::detail {

/// Steps from the nearest core of a set.
inline int distance_from(inventory const& all, id_set const& cores, int place) {
  int least = std::numeric_limits<int>::max();
  for (int const c : cores) least = std::min(least, all.tree.distance(all.core_places[std::size_t(c)], place));
  return least;
}

/// To each rank the memory made for programs with the fewest steps, of those the shortest latency, of those the fewest
/// ranks.
inline void choose_memories(inventory const& all, std::vector<placement>& ranks) {
  auto const ordinary = [](memory const& m) {
    return m.type == memory_type::dram || m.type == memory_type::cache_side;
  };
  bool const some = std::any_of(all.memories.begin(), all.memories.end(), ordinary);
  std::vector<int> users(all.memories.size(), 0);
  for (auto& rank : ranks) {
    auto best = std::pair{std::numeric_limits<int>::max(), 0};
    for (auto const& m : all.memories) {
      if (some && !ordinary(m)) continue;
      int near = std::numeric_limits<int>::max();
      for (int const c : rank.cores) near = std::min(near, all.distance_to_memory(c, m.id));
      if (auto const how = std::pair{near, users[std::size_t(m.id)]}; how < best) {
        best = how;
        rank.memory = m.id;
      }
    }
    if (rank.memory >= 0) ++users[std::size_t(rank.memory)];
  }
}

/// To each rank a device, the nearest pairs first, of equally near devices the least used. A device serves as many
/// ranks as it has contexts, one if that is unknown, and no more: those left over have none, unless there are
/// devices of unknown contexts to share, evenly.
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
  auto const once_through = [&](auto from, auto end, int shared_by) { // gives each device at most one rank
    auto const before = users;
    for (; from != end; ++from) {
      auto& rank = ranks[std::size_t(from->rank)];
      auto const device = std::size_t(from->device);
      int const contexts = all.devices[device].contexts;
      if (rank.device != -1 || users[device] > before[device] || users[device] >= (contexts > 0 ? contexts : shared_by))
        continue;
      rank.device = from->device;
      ++users[device];
    }
    return users != before;
  };
  for (int shared_by = 1; !pairs.empty(); ++shared_by) {
    auto const before = users;
    for (auto from = pairs.begin(), end = from; from != pairs.end(); from = end) {
      while (end != pairs.end() && end->steps == from->steps) ++end;
      while (once_through(from, end, shared_by)) {
      }
    }
    if (users == before) return;
  }
}

/// Ranks on one core part its hardware threads; more ranks than threads share them evenly.
inline void choose_threads(inventory const& all, std::vector<placement>& ranks, placing const& rule) {
  std::vector<std::vector<placement*>> on(all.cores.size());
  for (auto& rank : ranks)
    for (int const c : rank.cores) on[std::size_t(c)].push_back(&rank);
  for (auto const& c : all.cores) {
    auto const& users = on[std::size_t(c.id)];
    auto const threads = usable_threads(c, rule);
    auto const n = users.size(), have = threads.size();
    for (std::size_t u = 0; u < n; ++u) {
      auto const first = u * have / n, end = std::max((u + 1) * have / n, first + 1);
      for (auto t = first; t < end; ++t) users[u]->hardware_threads.insert(threads[t]);
    }
  }
}

/// How many of the ranks each device serves: equally many, as far as contexts go.
inline std::vector<int> shares_of_devices(inventory const& all, std::vector<int> const& devices, int ranks) {
  auto const count = static_cast<long long>(devices.size());
  std::vector<int> shares(devices.size(), 0);
  for (int r = 0; r < ranks; ++r)
    ++shares[std::size_t(ranks < count ? (2 * r + 1) * count / (2 * ranks) : r * count / ranks)];
  auto const room = [&](std::size_t d) {
    int const contexts = all.devices[std::size_t(devices[d])].contexts;
    return contexts > 0 ? contexts - shares[d] : std::numeric_limits<int>::max();
  };
  for (std::size_t full = 0; full < shares.size(); ++full)
    while (room(full) < 0) {
      auto to = shares.size();
      for (std::size_t d = 0; d < shares.size(); ++d)
        if (room(d) > 0 && (to == shares.size() || shares[d] < shares[to])) to = d;
      if (to == shares.size())
        throw error("topology", policy::counted(ranks, "rank") + " cannot be placed by device",
                    "the devices have fewer contexts", "Place fewer", EBUSY);
      --shares[full];
      ++shares[to];
    }
  return shares;
}

/// Deals ranks to devices in blocks, and spreads those of one locality over its cores. If the
/// localities of two devices nest, there is no fair share of cores, and nothing is made.
inline std::vector<placement> near_devices(inventory const& all, usable_cores const& usable, placing const& rule,
                                           int ranks) {
  std::vector<int> dealt; // the device of each rank
  std::vector<int> devices;
  for (auto const& d : all.devices)
    if (rule.device == device_type::any || d.type == rule.device) devices.push_back(d.id);
  if (devices.empty())
    throw error("topology", "ranks cannot be placed by device",
                all.source + " has no " + std::string{to_string(rule.device)}, "Place them spread", ENODEV);
  auto const place_of = [&](int device) { // where cores may be used
    auto const cores_in = [&](int locality) {
      return usable.cores({all.tree[locality].first_core, all.tree[locality].end_core});
    };
    int at = all.device_places[std::size_t(device)];
    while (cores_in(at) == 0) at = all.tree[at].parent;
    while (at != 0 && cores_in(all.tree[at].parent) == cores_in(at)) at = all.tree[at].parent; // the same cores
    return at;
  };
  for (auto const shares = shares_of_devices(all, devices, ranks); auto const& d : devices)
    dealt.insert(dealt.end(), std::size_t(shares[std::size_t(&d - devices.data())]), d);

  auto made = std::vector<placement>(std::size_t(ranks));
  std::vector<int> places;
  places.reserve(dealt.size());
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

/// How many memories are the nearest one of a usable core.
inline int count_near_memories(inventory const& all, usable_cores const& usable) {
  id_set near;
  for (auto const& c : all.cores) {
    if (usable.cores({c.id, c.id + 1}) == 0) continue;
    std::vector<placement> one{{.cores = {c.id}, .hardware_threads = {}}};
    choose_memories(all, one);
    near.insert(one.front().memory);
  }
  return int(near.size());
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
  if (int const parts = rule.greedy || rule.order != order::spread ? 0 : count_near_memories(all, usable);
      ranks < parts) {
    auto const of_each = place(all, parts, rule);
    for (int r = 0; r < ranks; ++r) made.push_back(of_each[std::size_t(1LL * r * parts / ranks)]);
    return made;
  }
  if (rule.order == order::by_device) made = near_devices(all, usable, rule, ranks);
  bool const have_devices = !made.empty();
  if (!have_devices) {
    auto const pieces =
        rule.order == order::compact ? packed(usable, cores, ranks) : spreading{all, usable, 0, ranks}.take();
    for (auto const& [first, end] : pieces) {
      made.emplace_back();
      made.back().cores = id_set::range(first, end);
    }
  }
  for (auto& rank : made)
    for (int const c : id_set{rank.cores})
      if (usable.cores({c, c + 1}) == 0) rank.cores.erase(c);
  choose_memories(all, made);
  if (!have_devices) choose_devices(all, made, rule.device);
  choose_threads(all, made, rule);
  return made;
}

} // namespace keel::topology::detail
