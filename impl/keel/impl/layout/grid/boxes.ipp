// SPDX-License-Identifier: MIT
#include <keel/impl/layout/grid/boxes.hpp>
#include <keel/impl/layout/grid/grid_cut.hpp>

#include <algorithm>
#include <cstdint>

namespace keel::residency::detail {

// `outer` without `inner`, cut into two slabs for each dimension.
inline void add_shell(index_sets& set, bounds const& outer, bounds const& inner, int rank) {
  bounds rest = outer;
  for (int d = 0; d < rank; ++d) {
    bounds low = rest, high = rest;
    low.end[d] = rest.begin[d] = inner.begin[d];
    high.begin[d] = rest.end[d] = inner.end[d];
    set.add(low, rank), set.add(high, rank);
  }
}

// Core, owned, inside and everywhere are boxes, each in the next one, so rim, halo and walls are what lies between two
// of them, and regions that follow on each other are made of the same boxes as one.
KEEL_INLINE index_sets boxes_of(share const& s, region where, bool has_ghosts) {
  index_sets set;
  bounds const owned = s.owned();
  bounds const nested[] = {has_ghosts ? s.core() : owned, owned, has_ghosts ? s.inside() : owned,
                           has_ghosts ? s.everywhere() : owned};
  for (int first = 0; first < region_count; ++first) {
    if (!overlap(where, single_regions[first])) continue;
    int last = first;
    while (last + 1 < region_count && overlap(where, single_regions[last + 1])) ++last;
    if (first != 0) add_shell(set, nested[last], nested[first - 1], s.rank);
    else set.add(nested[last], s.rank);
    first = last;
  }
  return set;
}

KEEL_INLINE bounds twins_of(share const& s) {
  bounds box = s.owned();
  twin_row const all = twins_in(s);
  auto const keep = [&](int d, std::int64_t begin, std::int64_t end) {
    std::int64_t const way = s.owned().begin[d] - s.global_begin[d];
    box.begin[d] = std::max(box.begin[d], begin + way), box.end[d] = std::min(box.end[d], end + way);
  };
  if (s.folds.at >= 0) keep(s.folds.at, all.row, all.row + 1);
  if (s.folds.along >= 0) keep(s.folds.along, all.begin, all.end);
  return s.is_folded && all.begin < all.end && box.size(s.rank) > 0 ? box : bounds{};
}

KEEL_INLINE index_sets without_twins(share const& s, bounds const& owned) {
  index_sets set;
  bounds twins = s.folds.at < 0 ? bounds{} : twins_of(s);
  for (int d = 0; d < s.rank; ++d)
    twins.begin[d] = std::max(twins.begin[d], owned.begin[d]), twins.end[d] = std::min(twins.end[d], owned.end[d]);
  if (twins.size(s.rank) == 0) set.add(owned, s.rank);
  else add_shell(set, owned, twins, s.rank);
  return set;
}

KEEL_INLINE index_sets rim_first(share const& s, indices const& depth, bool with_own) {
  bounds const owned = s.owned();
  bounds core = owned;
  bool has_core = true, waits = false;
  for (int d = 0; d < s.rank; ++d) {
    bool const low = s.is_cut(d, side::low), high = s.is_cut(d, side::high);
    if (with_own ? !s.is_wall(d, side::low) : low) core.begin[d] += depth[d];
    if (with_own ? !s.is_wall(d, side::high) : high) core.end[d] -= depth[d] + s.rows_on_fold(d);
    has_core = has_core && core.begin[d] < core.end[d];
    waits = waits || ((low || high) && depth[d] > 0);
  }
  index_sets set;
  if (!waits) core = owned;
  else if (!has_core) return set;
  add_shell(set, owned, core, s.rank);
  set.add(core, s.rank);
  return set;
}

} // namespace keel::residency::detail
