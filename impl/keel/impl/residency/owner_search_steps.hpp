// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The steps of `owner_search`.

#include <keel/impl/residency/owner_search.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::residency::detail {

// Sixteen consecutive ids have one directory, so that meshes numbered along a curve need few messages.
[[nodiscard]] inline int directory_of(std::int64_t id, int ranks) {
  return int((mixed(std::uint64_t(id) >> 4) >> 32) * std::uint64_t(ranks) >> 32);
}

// The places of `ranks` in ascending order of rank, equal ones as they stand: a radix sort, whose memory does not
// depend on the number of ranks.
[[nodiscard]] inline std::vector<std::int32_t> order_by_rank(std::vector<int> const& ranks, int end) {
  constexpr int bits = 11;
  std::vector<std::int32_t> order(ranks.size()), next(end > 1 ? ranks.size() : 0);
  std::iota(order.begin(), order.end(), 0);
  for (int shift = 0; shift < 31 && (end - 1) >> shift != 0; shift += bits) {
    auto const digit = [&](std::int32_t place) {
      return std::size_t(ranks[std::size_t(place)] >> shift) % (std::size_t{1} << bits);
    };
    std::array<std::int32_t, std::size_t{1} << bits> begins{};
    for (std::int32_t const place : order) ++begins[digit(place)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), 0);
    for (std::int32_t const place : order) next[std::size_t(begins[digit(place)]++)] = place;
    order.swap(next);
  }
  return order;
}

// Calls f(rank, places) for each rank, in ascending order.
void for_each_rank(std::vector<int> const& ranks, std::span<std::int32_t const> order, auto const& f) {
  for (std::size_t begin = 0, end = 0; begin != order.size(); begin = end) {
    int const rank = ranks[std::size_t(order[begin])];
    while (end != order.size() && ranks[std::size_t(order[end])] == rank) ++end;
    f(rank, order.subspan(begin, end - begin));
  }
}

KEEL_INLINE element_range elements::layer(int n, std::string_view mesh) const {
  if (n < 1 || n > int(ends.size()))
    throw error("residency::partition", "layer " + std::to_string(n) + " of " + std::string(mesh) + " is not there",
                "there are " + std::to_string(ends.size()), "Count from 1");
  auto const at = std::size_t(n);
  return {n == 1 ? owned : ends[at - 2], ends[at - 1]};
}

KEEL_INLINE void elements::find_places() {
  places = id_table(ids.size());
  for (std::size_t i = 0; i != ids.size(); ++i) places.add(ids, std::int32_t(i));
}

KEEL_INLINE std::shared_ptr<elements const> with_places(std::shared_ptr<elements const> of) {
  if (of->ids.empty() || of->places.find(of->ids, of->ids[0]) != id_table::none) return of;
  auto made = std::make_shared<elements>(*of);
  made->find_places();
  return made;
}

KEEL_INLINE verdict worse::operator()(verdict const& a, verdict const& b) const {
  auto const key = [](verdict const& v) { return std::tuple(v.what, v.id, v.first, v.second); };
  verdict made = key(b) < key(a) ? b : a;
  made.layers = std::max(a.layers, b.layers);
  return made;
}

KEEL_INLINE void verdict::check(std::string_view mesh) const {
  auto const id_of = [&] { return "id " + std::to_string(id) + " of " + std::string(mesh); };
  auto const on = [](std::int32_t rank) { return "rank " + std::to_string(rank); };
  auto const fail = [](std::string const& wrong, char const* why, char const* hint) {
    throw error("residency::partition", wrong, why, hint);
  };
  switch (what) {
  case mistake::none: return;
  case mistake::too_many:
    return fail(on(first) + " has " + std::to_string(id) + " " + std::string(mesh), "local indices have 32 bits",
                "Take more ranks");
  case mistake::owned_twice:
    return fail(first == second ? on(first) + " owns " + id_of() + " twice"
                                : on(first) + " and " + on(second) + " both own " + id_of(),
                "an element has one owner", "Leave it in one list of owned ids, once");
  case mistake::named_twice:
    return fail(on(first) + " has the ghost with " + id_of() + " twice", "it lies in one layer",
                "Leave it in the first layer that it belongs to");
  case mistake::no_owner:
    return fail("the ghost with " + id_of() + " on " + on(first) + " has no owner", "it is in no list of owned ids",
                "Let a rank own it, or leave it out");
  }
}

KEEL_INLINE owner_search::owner_search(int rank, int ranks, std::span<std::int64_t const> owned,
                                       std::span<std::span<std::int64_t const> const> layers)
    : rank_(rank), ranks_(ranks) {
  made_.rank = rank, made_.ranks = ranks;
  std::size_t all = owned.size();
  for (auto const& layer : layers) all += layer.size();
  mine_.layers = std::int32_t(layers.size());
  made_.ends.resize(layers.size());
  // A parcel has a number beside ids. A rank with too many goes on without any, so that all ranks hear of it.
  if (all >= std::size_t{INT_MAX} - layers.size()) {
    mine_ = {mistake::too_many, rank, 0, mine_.layers, std::int64_t(all)};
    return;
  }
  made_.owned = std::int64_t(owned.size());
  made_.ids.reserve(all);
  made_.ids.assign(owned.begin(), owned.end());
  for (std::size_t n = 0; n != layers.size(); ++n) {
    made_.ids.insert(made_.ids.end(), layers[n].begin(), layers[n].end());
    made_.ends[n] = std::int64_t(made_.ids.size());
  }
}

// A parcel has the number of owned ids, these, and those of ghosts.
KEEL_INLINE owner_search::ids owner_search::to_directories() {
  std::vector<int> directories(made_.ids.size());
  std::transform(made_.ids.begin(), made_.ids.end(), directories.begin(),
                 [&](std::int64_t id) { return directory_of(id, ranks_); });
  order_ = order_by_rank(directories, ranks_);
  ids out;
  for_each_rank(directories, order_, [&](int rank, std::span<std::int32_t const> places) {
    auto& items = out.emplace_back(machine::parcel<std::int64_t>{rank, {}}).items;
    items.reserve(places.size() + 1);
    items.push_back(std::lower_bound(places.begin(), places.end(), std::int32_t(made_.owned)) - places.begin());
    for (std::int32_t const place : places) items.push_back(made_.ids[std::size_t(place)]);
  });
  return out;
}

KEEL_INLINE verdict owner_search::look_up(ids const& from_all) {
  std::size_t count = 0;
  for (auto const& p : from_all) count += std::size_t(p.items[0]);
  auto const note = [&](mistake what, std::int64_t id, int first, int second) {
    mine_ = worse{}(mine_, {what, first, second, 0, id});
  };
  std::vector<std::int64_t> owned;
  std::vector<std::int32_t> owners, asked_by(count, -1);
  owned.reserve(count), owners.reserve(count);
  id_table table(count);
  for (auto const& [rank, items] : from_all)
    for (std::int64_t const id : std::span(items).subspan(1, std::size_t(items[0]))) {
      owned.push_back(id), owners.push_back(rank);
      auto const at = std::int32_t(owned.size() - 1), before = table.add(owned, at);
      if (before != at) note(mistake::owned_twice, id, owners[std::size_t(before)], rank);
    }
  for (auto const& [rank, items] : from_all) {
    auto const asked = std::span(items).subspan(1 + std::size_t(items[0]));
    if (asked.empty()) continue;
    auto& answer = answers_.emplace_back(machine::parcel<std::int32_t>{rank, {}}).items;
    answer.reserve(asked.size());
    for (std::int64_t const id : asked) {
      std::int32_t const at = table.find(owned, id);
      answer.push_back(at == id_table::none ? -1 : owners[std::size_t(at)]);
      if (at == id_table::none) note(mistake::no_owner, id, rank, 0);
      else if (std::exchange(asked_by[std::size_t(at)], rank) == rank) note(mistake::named_twice, id, rank, 0);
    }
  }
  return mine_;
}

// A parcel has the number of ghosts in each layer, and their ids.
KEEL_INLINE owner_search::ids owner_search::to_owners(std::vector<machine::parcel<std::int32_t>> const& answers,
                                                      int layers) {
  auto const owned = std::int32_t(made_.owned);
  made_.ends.resize(std::size_t(layers), std::int64_t(made_.ids.size()));
  made_.owners.resize(made_.ids.size() - std::size_t(owned));
  // The directories answer in the order in which they were asked.
  auto place = order_.begin();
  for (auto const& p : answers)
    for (std::int32_t const owner : p.items) {
      while (*place < owned) ++place;
      made_.owners[std::size_t(*place++ - owned)] = owner;
    }
  order_ = order_by_rank(made_.owners, ranks_);
  ids out;
  for_each_rank(made_.owners, order_, [&](int rank, std::span<std::int32_t const> ghosts) {
    layered_list list;
    list.elements.reserve(ghosts.size());
    for (std::int32_t const g : ghosts) list.elements.push_back(owned + g);
    for (std::int64_t const end : made_.ends)
      list.ends.push_back(std::int32_t(std::lower_bound(list.elements.begin(), list.elements.end(), std::int32_t(end)) -
                                       list.elements.begin()));
    if (rank != rank_) {
      auto& items = out.emplace_back(machine::parcel<std::int64_t>{rank, {}}).items;
      items.reserve(list.ends.size() + list.elements.size());
      for (std::int32_t const end : list.ends) items.push_back(end);
      for (std::int32_t const g : list.elements) items.push_back(made_.ids[std::size_t(g)]);
      made_.lists.partners.push_back({rank, {{}, std::vector<std::int32_t>(std::size_t(layers))}, std::move(list)});
    } else made_.lists.own_ghosts = std::move(list);
  });
  return out;
}

KEEL_INLINE elements owner_search::finish(ids const& from_ghosts) {
  made_.find_places();
  auto const layers = made_.ends.size();
  auto& [partners, own_ghosts, own_elements] = made_.lists;
  own_ghosts.ends.resize(layers);
  own_elements.ends = own_ghosts.ends;
  for (std::int32_t const g : own_ghosts.elements)
    own_elements.elements.push_back(made_.places.find(made_.ids, made_.ids[std::size_t(g)]));
  auto const by_rank = [](element_partner const& p, int rank) { return p.rank < rank; };
  auto const known = partners.size();
  for (auto const& [rank, items] : from_ghosts) {
    auto const end = partners.begin() + std::ptrdiff_t(known);
    auto at = std::lower_bound(partners.begin(), end, rank, by_rank);
    if (at == end || at->rank != rank)
      at = partners.insert(partners.end(), {rank, {}, {{}, std::vector<std::int32_t>(layers)}});
    at->rims.ends.assign(items.begin(), items.begin() + std::ptrdiff_t(layers));
    at->rims.elements.reserve(items.size() - layers);
    for (std::int64_t const id : std::span(items).subspan(layers))
      at->rims.elements.push_back(made_.places.find(made_.ids, id));
  }
  std::inplace_merge(partners.begin(), partners.begin() + std::ptrdiff_t(known), partners.end(),
                     [](auto const& a, auto const& b) { return a.rank < b.rank; });
  return std::move(made_);
}

} // namespace keel::residency::detail
