// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a grid is checked and cut.

#include <keel/policy/error.hpp>
#include <keel/residency/grid.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace keel::residency {

KEEL_INLINE grid::grid(std::initializer_list<extent> extents, grid_option first, grid_option second, grid_option third)
    : rank_(int(extents.size())) {
  for (grid_option const* option : {&first, &second, &third}) {
    if (option->ghosts.given != 0) width_ = option->ghosts;
    if (option->wraps.given != 0) periodic_ = option->wraps;
    if (option->cut.given != 0) ranks_ = option->cut;
  }
  auto const refuse = [](std::string const& wrong, std::string_view why, std::string_view hint) {
    throw error("residency::grid", wrong, why, hint);
  };
  if (rank_ > max_grid_rank)
    refuse("a grid has " + std::to_string(rank_) + " dimensions", "keel cuts up to " + std::to_string(max_grid_rank),
           "Let the others be dimensions of the variables");
  for (int d = 0; extent const& e : extents) extents_[d++] = e.cells;
  auto const check = [&](std::string_view option, int given, std::string_view what, bool one_goes_for_all) {
    if (given != 0 && given != rank_ && !(one_goes_for_all && given == 1))
      refuse(std::string(option) + " has " + std::to_string(given) + std::string(what) + ", the grid " +
                 std::to_string(rank_) + " dimensions",
             one_goes_for_all ? "there is one for each dimension, or one for all" : "there is one for each dimension",
             "Give as many");
  };
  check("ghost_width", width_.given, " numbers", true);
  check("periodic", periodic_.given, " answers", true);
  check("ranks_in", ranks_.given, " numbers", false);
  for (int d = 0; d < rank_; ++d) {
    if (ranks_.given != 0 && ranks_[d] < 1)
      refuse("ranks_in has " + std::to_string(ranks_[d]) + " for dimension " + std::to_string(d),
             "each has one rank at least", "Give 1 or more");
    if (width_[d] < 0)
      refuse("a ghost width is " + std::to_string(width_[d]) + ", that of dimension " + std::to_string(d),
             "it counts layers", "Give 0 or more");
    if (extents_[d] < 1 || extents_[d] < width_[d])
      refuse("dimension " + std::to_string(d) + " has " + std::to_string(extents_[d]) +
                 " cells, with a ghost width of " + std::to_string(width_[d]),
             "it needs at least one cell, and as many as its ghosts are wide", "Take a larger grid");
  }
}

// The lower rank owns a layer that two share, so that the elements on the ends of cells begin one later; except at a
// wall.
KEEL_INLINE bounds share::owned() const {
  if (!ends.empty()) return within(0);
  bounds b;
  for (int d = 0; d < rank; ++d) {
    b.begin[d] = width[d] + (is_wall(d, side::low) ? 0 : longer[d]);
    b.end[d] = extents[d] - width[d];
  }
  return b;
}

KEEL_INLINE bounds share::core() const {
  bounds b = owned();
  if (!ends.empty()) return b;
  for (int d = 0; d < rank; ++d) {
    if (!is_wall(d, side::low)) b.begin[d] += width[d];
    if (!is_wall(d, side::high)) b.end[d] -= width[d] + longer[d];
    if (b.end[d] < b.begin[d]) b.end[d] = b.begin[d];
  }
  return b;
}

KEEL_INLINE bounds share::within(int layers) const {
  if (!ends.empty()) return {{}, {{ends[std::min(std::size_t(layers), ends.size() - 1)]}}};
  bounds b = owned();
  for (int d = 0; d < rank; ++d) {
    b.begin[d] = std::max<std::int64_t>(b.begin[d] - layers, 0);
    b.end[d] = std::min(b.end[d] + layers, extents[d]);
  }
  return b;
}

KEEL_INLINE bounds share::inside() const {
  bounds b = owned();
  for (int d = 0; d < rank; ++d) {
    if (!is_wall(d, side::low)) b.begin[d] = 0;
    if (!is_wall(d, side::high)) b.end[d] = extents[d];
  }
  return b;
}

// Few ranks have few divisors: all products are tried, the first factor from the largest down.
KEEL_INLINE indices processes_for(grid const& g, int ranks) {
  indices best, now;
  double least = std::numeric_limits<double>::infinity();
  auto const search = [&](auto const& self, int d, std::int64_t left) -> void {
    if (d == g.rank()) {
      if (left != 1) return;
      double cost = 0; // ghosts of the largest share
      for (int k = 0; k < g.rank(); ++k) {
        if (now[k] == 1) continue;
        double faces = g.width(k) * (g.is_periodic(k) || now[k] > 2 ? 2 : 1);
        for (int o = 0; o < g.rank(); ++o)
          if (o != k) faces *= double((g.extents()[o] + now[o] - 1) / now[o]);
        cost += faces;
      }
      if (cost < least) least = cost, best = now;
      return;
    }
    for (std::int64_t p = left; p >= 1; --p) {
      std::int64_t const smallest = g.extents()[d] / p;
      if (left % p != 0 || smallest < 1 || smallest < g.width(d) || (g.ranks_wanted(d) != 0 && g.ranks_wanted(d) != p))
        continue;
      now[d] = p;
      self(self, d + 1, left / p);
    }
  };
  search(search, 0, ranks);
  if (best == indices{} && g.rank() > 0) {
    auto const text = [&](auto&& number) {
      std::string all;
      for (int d = 0; d < g.rank(); ++d) all += (d ? " x " : "") + std::to_string(number(d));
      return all;
    };
    std::string const cells = text([&](int d) { return g.extents()[d]; }),
                      widths = text([&](int d) { return g.width(d); });
    bool const is_wanted = g.ranks_wanted(0) != 0;
    throw error("residency::grid",
                "a grid of " + cells + " cells cannot be cut for " + std::to_string(ranks) + " ranks" +
                    (is_wanted ? " as ranks_in says, " + text([&](int d) { return g.ranks_wanted(d); }) : ""),
                (is_wanted ? "their product has to be the number of ranks, and " : "") +
                    std::string("each needs at least one cell, and as many as the ") + "ghosts are wide, " + widths +
                    ", in each dimension",
                "Take fewer ranks or a larger grid");
  }
  return best;
}

// The last dimension's position runs fastest with the rank.
KEEL_INLINE share share_of(grid const& g, int ranks, int rank) {
  share s;
  s.rank = g.rank();
  s.global_extents = g.extents();
  s.processes = processes_for(g, ranks);
  std::int64_t stride[max_grid_rank]{}, rest = rank, product = ranks;
  for (int d = 0; d < g.rank(); ++d) {
    product /= s.processes[d];
    stride[d] = product;
    s.position[d] = rest / product;
    rest %= product;
  }
  for (int d = 0; d < g.rank(); ++d) {
    std::int64_t const p = s.processes[d], at = s.position[d], n = g.extents()[d] / p, more = g.extents()[d] % p;
    if (g.width(d) > 0) s.regions = s.regions | region::rim | (g.is_periodic(d) ? region::halo : region::ghosts);
    s.width[d] = g.width(d);
    s.wraps[std::size_t(d)] = g.is_periodic(d);
    s.step[d] = stride[d];
    s.global_begin[d] = at * n + (at < more ? at : more);
    s.extents[d] = n + (at < more ? 1 : 0) + 2 * s.width[d];
    for (side which : {side::low, side::high}) {
      std::int64_t next = at + (which == side::low ? -1 : 1);
      if (g.is_periodic(d)) next = (next + p) % p;
      s.neighbour[std::size_t(d)][std::size_t(which)] =
          next < 0 || next >= p ? -1 : int(rank + (next - at) * stride[d]);
    }
  }
  return s;
}

KEEL_INLINE share share_of(share const& cells, lattice const& on, std::string_view variable) {
  share s = cells;
  s.rank = 0, s.regions = region::core;
  for (int d = 0; d < max_grid_rank; ++d) {
    bool const is_along = on.along == 0 ? d < cells.rank : (on.along >> d & 1) != 0;
    if (!is_along) continue;
    auto const refuse = [&](std::string const& wrong, std::string_view why, std::string_view hint) {
      throw error("residency::fields", "variable " + std::string(variable) + wrong, why, hint);
    };
    if (d >= cells.rank)
      refuse(" lies along dimension " + std::to_string(d), "the grid has " + std::to_string(cells.rank),
             "Leave it out of along<...>");
    int const k = s.rank++;
    std::int64_t const own = cells.extents[d] - 2 * cells.width[d], longer = on.longer >> d & 1,
                       width = on.width[d] < 0 ? cells.width[d] : on.width[d];
    if (cells.global_extents[d] / cells.processes[d] < width)
      refuse(" has ghosts of a width of " + std::to_string(width) + " in dimension " + std::to_string(d),
             "a rank has only " + std::to_string(cells.global_extents[d] / cells.processes[d]) + " cells there",
             "Take fewer ranks or a larger grid");
    bool const wraps = cells.wraps[std::size_t(d)], begins_later = longer != 0 && !cells.is_wall(d, side::low);
    s.width[k] = width, s.longer[k] = longer;
    s.extents[k] = own + 2 * width + longer;
    s.global_begin[k] = cells.global_begin[d] + (begins_later ? 1 : 0);
    s.global_extents[k] = cells.global_extents[d] + (wraps ? 0 : longer);
    s.wraps[std::size_t(k)] = wraps, s.neighbour[std::size_t(k)] = cells.neighbour[std::size_t(d)];
    s.processes[k] = cells.processes[d], s.position[k] = cells.position[d], s.step[k] = cells.step[d];
    if (width + longer > 0) s.regions = s.regions | region::rim | (wraps || width == 0 ? region::halo : region::ghosts);
  }
  for (int k = s.rank; k < max_grid_rank; ++k)
    s.extents[k] = s.width[k] = s.longer[k] = s.global_begin[k] = s.global_extents[k] = s.step[k] = 0,
    s.processes[k] = s.position[k] = 0;
  return s;
}

} // namespace keel::residency
