// SPDX-License-Identifier: MIT
#include <keel/impl/layout/grid/grid_cut.hpp>

namespace keel::residency::detail {

/// From the largest down.
inline std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t p = 1; p <= n / p; ++p)
    if (n % p == 0) all.push_back(n / p);
  for (std::size_t i = all.size(); i-- > 0;)
    if (n / all[i] != all[i]) all.push_back(n / all[i]);
  return all;
}

KEEL_INLINE indices best_cut(grid const& g, indices const& cells, int parts, bool as_wanted) {
  indices best, now;
  // In a grid without ghosts, whose variables may have some of their own, each cell at a cut counts.
  bool has_ghosts = false;
  for (int d = 0; d < g.rank(); ++d) has_ghosts = has_ghosts || g.width(d) > 0;
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> const factors = divisors_of(parts);
  auto const search = [&](auto const& self, int d, std::int64_t left) -> void {
    if (d == g.rank()) {
      if (left != 1) return;
      double cost = 0; // ghosts of the largest share
      for (int k = 0; k < g.rank(); ++k) {
        if (now[k] == 1) continue;
        double faces = (has_ghosts ? g.width(k) : 1) * (g.is_periodic(k) || now[k] > 2 ? 2 : 1);
        for (int o = 0; o < g.rank(); ++o)
          if (o != k) faces *= double((cells[o] + now[o] - 1) / now[o]);
        cost += faces;
      }
      if (cost < least) least = cost, best = now;
      return;
    }
    for (std::int64_t const p : factors) {
      std::int64_t const smallest = cells[d] / p;
      bool const has_cuts = as_wanted && g.cuts_in(d); // whose shares were looked at
      if (left % p != 0 || (!has_cuts && (smallest < 1 || smallest < g.width(d))) ||
          (as_wanted && g.ranks_wanted(d) != 0 && g.ranks_wanted(d) != p))
        continue;
      now[d] = p;
      self(self, d + 1, left / p);
    }
  };
  search(search, 0, parts);
  return best;
}

KEEL_INLINE share share_of(grid const& g, indices const& processes, indices const& blocks, int rank, int block) {
  share s;
  s.rank = g.rank();
  s.global_extents = g.extents();
  s.processes = processes;
  s.blocks = blocks;
  auto const find = [&](indices const& counts, std::int64_t number, indices& position, indices& step) {
    for (std::int64_t d = s.rank - 1, product = 1; d >= 0; --d) {
      int const k = int(d);
      step[k] = product, position[k] = number % counts[k];
      number /= counts[k], product *= counts[k];
    }
  };
  find(s.processes, rank, s.position, s.step);
  find(s.blocks, block, s.block, s.block_step);
  bool const has_place_here = has_place(processes, s.rank, rank);
  for (int d = 0; d < g.rank(); ++d) {
    auto const& cuts = s.cuts[std::size_t(d)] = g.cuts_in(d);
    if (!has_place_here) s.position[d] = -1;
    std::int64_t const at = s.place(d), parts = s.parts(d), cells = cells_in(s, d);
    auto const begin = [&](std::int64_t place) {
      return begin_of(cuts, g.extents()[d], s.processes[d], s.blocks[d], place);
    };
    if (g.width(d) > 0) s.regions = s.regions | region::rim | (g.is_periodic(d) ? region::halo : region::ghosts);
    s.width[d] = g.width(d);
    s.wraps[std::size_t(d)] = g.is_periodic(d);
    s.global_begin[d] = has_place_here ? begin(at) : 0;
    s.extents[d] = cells + 2 * s.width[d];
    s.has_cells = s.has_cells && cells > 0;
    for (side which : {side::low, side::high}) {
      std::int64_t next = at;
      auto const is_inside = [&] { return cells > 0 && next >= 0 && next < parts; };
      do {
        next += which == side::low ? -1 : 1;
        if (g.is_periodic(d)) next = (next + parts) % parts;
      } while (is_inside() && begin(next) == begin(next + 1)); // without cells
      s.neighbour[std::size_t(d)][std::size_t(which)] =
          is_inside() ? int(rank + (next / s.blocks[d] - s.position[d]) * s.step[d]) : -1;
    }
  }
  if (!s.has_cells) s.extents = {};
  return s;
}

} // namespace keel::residency::detail
