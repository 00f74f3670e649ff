// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of migration.hpp.

#include <keel/impl/layout/by_rank.hpp>
#include <keel/impl/residency/migration.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace keel::residency::detail {

KEEL_INLINE migration::migration(elements const& old, std::span<int const> destinations, std::string_view mesh)
    : old_(old) {
  if (std::int64_t(destinations.size()) < old.owned)
    throw error("residency::fields", std::to_string(destinations.size()) + " destinations are too few",
                "the rank owns " + std::to_string(old.owned) + ' ' + std::string(mesh), "Give each owned one a rank");
  for (std::int32_t e = 0; e < std::int32_t(old.owned); ++e) {
    int const to = destinations[std::size_t(e)];
    if (to == old.rank) continue;
    if (to < 0 || to >= old.ranks)
      throw error("residency::fields",
                  "id " + std::to_string(old.ids[std::size_t(e)]) + " of " + std::string(mesh) + " goes to rank " +
                      std::to_string(to),
                  "there are " + std::to_string(old.ranks), "Give one of them");
    leavers_.push_back(e), ranks_.push_back(to);
  }
  order_ = order_by_rank(ranks_, old.ranks);
}

KEEL_INLINE std::vector<machine::parcel<std::int64_t>> migration::departures() const {
  std::vector<machine::parcel<std::int64_t>> out;
  for_each_rank(ranks_, order_, [&](int rank, std::span<std::int32_t const> places) {
    auto& items = out.emplace_back(machine::parcel<std::int64_t>{rank, {}}).items;
    items.reserve(places.size());
    for (std::int32_t const p : places) items.push_back(old_.ids[std::size_t(leavers_[std::size_t(p)])]);
  });
  return out;
}

KEEL_INLINE std::shared_ptr<elements const>
migration::arrive(std::vector<machine::parcel<std::int64_t>> const& from_all, element_moves& moves) const {
  auto const owned = std::size_t(old_.owned);
  std::size_t came = 0;
  for (auto const& p : from_all) came += p.items.size();
  std::size_t const left = leavers_.size(), size = owned - left + came;
  auto next = std::make_shared<elements>();
  next->rank = old_.rank, next->ranks = old_.ranks, next->owned = std::int64_t(size);
  next->ids.reserve(std::max(owned, size));
  next->ids.assign(old_.ids.begin(), old_.ids.begin() + std::ptrdiff_t(owned));
  next->ids.resize(std::max(owned, size));
  std::vector<std::int32_t> leave, come;
  std::size_t filled = 0;
  auto const place = [&] {
    std::size_t const n = filled++;
    return n < left ? leavers_[n] : std::int32_t(owned + n - left);
  };
  // What stays: the last elements go to what places are left in the end.
  std::vector<std::int32_t> last, holes;
  for (std::size_t e = size, hole = std::size_t(std::lower_bound(leavers_.begin(), leavers_.end(), std::int32_t(size)) -
                                                leavers_.begin());
       e < owned; ++e)
    if (hole < left && leavers_[hole] == std::int32_t(e)) ++hole;
    else last.push_back(std::int32_t(e));
  for (std::size_t n = 0; n < last.size(); ++n) holes.push_back(leavers_[came + n]);
  for (std::size_t n = 0; n < last.size(); ++n) next->ids[std::size_t(holes[n])] = old_.ids[std::size_t(last[n])];
  bool is_own_there = last.empty();
  auto from = from_all.begin();
  auto const arrive_from = [&](int rank) {
    come.clear();
    if (from == from_all.end() || from->rank != rank) return;
    for (std::int64_t const id : from->items) {
      come.push_back(place());
      next->ids[std::size_t(come.back())] = id;
    }
    ++from;
  };
  auto const add_before = [&](int end) { // ranks that only send, and this one
    for (;;) {
      int const sender = from != from_all.end() ? from->rank : old_.ranks;
      if (!is_own_there && old_.rank < std::min(sender, end)) {
        moves.add(old_.rank, last, holes);
        is_own_there = true;
      } else if (sender < end) {
        arrive_from(sender);
        moves.add(sender, {}, come);
      } else return;
    }
  };
  for_each_rank(ranks_, order_, [&](int rank, std::span<std::int32_t const> places) {
    add_before(rank);
    leave.clear();
    for (std::int32_t const p : places) leave.push_back(leavers_[std::size_t(p)]);
    arrive_from(rank);
    moves.add(rank, leave, come);
  });
  add_before(old_.ranks);
  next->ids.resize(size);
  return next;
}

} // namespace keel::residency::detail
