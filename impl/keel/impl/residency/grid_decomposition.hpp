// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What the ranks of a grid exchange.

#include <keel/impl/residency/decomposition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace keel::residency::detail {

// A direction is a number of one base-3 digit a dimension: 0 low, 1 here, 2 high.
struct grid_directions {
  share const& s;
  int rank;

  [[nodiscard]] int count() const {
    int all = 1;
    for (int d = 0; d < s.rank; ++d) all *= 3;
    return all;
  }
  // The rank there; -1 if there is none, or no ghosts. Ranks are numbered by position, so steps in several dimensions
  // add up.
  [[nodiscard]] int rank_at(int direction) const {
    int r = rank;
    bool somewhere = false;
    for (int d = 0; d < s.rank; ++d, direction /= 3) {
      if (direction % 3 == 1) continue;
      int const next = s.neighbour[std::size_t(d)][std::size_t(direction % 3 / 2)];
      if (next < 0 || s.width[d] == 0) return -1;
      r += next - rank;
      somewhere = true;
    }
    return somewhere ? r : -1;
  }
  [[nodiscard]] bounds rim(int direction) const {
    bounds b = s.owned();
    for (int d = 0; d < s.rank; ++d, direction /= 3) {
      if (direction % 3 == 0) b.end[d] = b.begin[d] + s.width[d];
      if (direction % 3 == 2) b.begin[d] = b.end[d] - s.width[d];
    }
    return b;
  }
  [[nodiscard]] bounds ghosts(int direction) const {
    bounds b = rim(direction);
    for (int d = 0; d < s.rank; ++d, direction /= 3) {
      std::int64_t const shift = (direction % 3 - 1) * s.width[d];
      b.begin[d] += shift, b.end[d] += shift;
    }
    return b;
  }
  // Through the grid's whole extent, where both ends are of this rank.
  [[nodiscard]] indices wrap(int direction) const {
    bounds const own = s.owned();
    indices shift;
    for (int d = 0; d < s.rank; ++d, direction /= 3) shift[d] = (1 - direction % 3) * (own.end[d] - own.begin[d]);
    return shift;
  }
};

KEEL_INLINE decomposition decomposition_of(share const& s, int rank) {
  decomposition made;
  grid_directions const all{s, rank};
  auto const with = [&](int r) -> partner& {
    auto const at =
        std::find_if(made.partners.begin(), made.partners.end(), [&](partner const& p) { return p.rank == r; });
    return at != made.partners.end() ? *at : made.partners.emplace_back(partner{r, {}, {}});
  };
  int const directions = all.count();
  for (int n = 0; n < directions; ++n)
    if (int const r = all.rank_at(n); r == rank) made.own.push_back({all.ghosts(n), all.wrap(n)});
    else if (r >= 0) with(r).rims.push_back(all.rim(n));
  for (int n = directions - 1; n >= 0; --n) // the partner sent the opposite directions, in ascending order
    if (int const r = all.rank_at(n); r >= 0 && r != rank) with(r).ghosts.push_back(all.ghosts(n));
  return made;
}

// Dimensions that the grid lacks end at 0.
[[nodiscard]] inline bool overlap(bounds const& a, bounds const& b) {
  for (int d = 0; d < max_grid_rank; ++d)
    if (a.end[d] != 0 && (a.end[d] <= b.begin[d] || b.end[d] <= a.begin[d])) return false;
  return true;
}

KEEL_INLINE std::vector<int> turns_of(decomposition const& cut) {
  std::vector<bounds> boxes;
  for (partner const& p : cut.partners) boxes.insert(boxes.end(), p.rims.begin(), p.rims.end());
  for (own_copy const& o : cut.own) boxes.push_back(o.cells());
  std::vector<int> turns;
  for (bounds const& box : boxes) {
    int turn = 0;
    for (std::size_t i = 0; i < turns.size();)
      if (turns[i] == turn && overlap(boxes[i], box)) ++turn, i = 0;
      else ++i;
    turns.push_back(turn);
  }
  return turns;
}

} // namespace keel::residency::detail
