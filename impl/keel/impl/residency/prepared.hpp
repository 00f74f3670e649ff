// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The parts of a ledger that depend on no provider: names, and lists of requests.

#include <keel/policy/macros.hpp>
#include <keel/residency/ledger.hpp>

#include <algorithm>
#include <string>

namespace keel::residency {

namespace detail {

KEEL_INLINE int name_index::find(std::string_view name) const {
  auto const at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [](entry const& one, std::string_view other) { return one.name < other; });
  return at != by_name_.end() && at->name == name ? at->number : -1;
}

KEEL_INLINE bool name_index::add(std::string_view name) {
  auto const at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [](entry const& one, std::string_view other) { return one.name < other; });
  if (at != by_name_.end() && at->name == name) return false;
  by_name_.insert(at, {std::string(name), int(by_name_.size())});
  return true;
}

} // namespace detail

// Side by side, to be read fast.
KEEL_INLINE void prepared::reserve(std::size_t most) {
  reads.reserve(most);
  writes.reserve(most);
  all.reserve(most);
}

KEEL_INLINE void prepared::add(detail::asked const& one) {
  all.push_back(one);
  if (one.reads != 0) reads.push_back({one.at, one.reads << unsigned(where)});
  if (one.writes != region::none) writes.push_back({one.at, masks_of_write(one.writes, where)});
}

} // namespace keel::residency
