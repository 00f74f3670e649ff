// SPDX-License-Identifier: MIT
#include <keel/impl/layout/grid/grid_cut.hpp>
#include <keel/policy/error.hpp>

#include <memory>

namespace keel::residency::detail {

KEEL_INLINE void check_seams(grid const& g) {
  auto const refuse = [](std::string const& wrong, std::string const& why, std::string_view hint) {
    throw error("residency::grid", wrong, why, hint);
  };
  indices const& n = g.extents();
  if (int const at = g.folds().at, along = g.folds().along; at >= 0) {
    std::string const which = "a fold of dimension " + std::to_string(at) + " along " + std::to_string(along);
    if (at >= g.rank() || along >= g.rank())
      refuse(which + " is refused", "the grid has " + policy::counted(g.rank(), "dimension") + ", counted from 0",
             "Name dimensions that it has");
    if (g.is_periodic(at) || !g.is_periodic(along))
      refuse(which + " is refused",
             g.is_periodic(at)
                 ? "dimension " + std::to_string(at) + " is periodic, and has no end to be folded"
                 : "dimension " + std::to_string(along) + " ends at walls, and has no columns beyond them",
             "Give periodic{...} with false for the first and true for the second");
    if (n[along] % 2 != 0)
      refuse(which + " is refused",
             "there is an odd number of columns, " + std::to_string(n[along]) + ", so that its two poles differ",
             "Give it an even one");
    if (n[at] < g.width(at) + (g.folds().is_centred(at) ? 1 : 0))
      refuse(which + " is refused",
             policy::counted(n[at], "row") + ", of which one lies on the fold, are fewer than the ghosts need",
             "Take a larger grid");
  }
  if (!g.folds().is_cube) return;
  bool const is_strip = g.rank() == 2 && n[0] == panels * n[1];
  if (!is_strip || !g.is_periodic(0) || !g.is_periodic(1) || g.cuts_in(0) || g.cuts_in(1))
    refuse("a cubed_sphere is refused",
           is_strip ? "its panels join each other, and are cut alike"
                    : "its extents are " + text_of(g.rank(), [&](int d) { return n[d]; }),
           "Give grid{{6 * n, n}, cubed_sphere{}, ...} without walls and cuts");
  if (g.folds().corners_along > 1)
    refuse("corners_along is " + std::to_string(g.folds().corners_along), "panels have dimensions 0 and 1",
           "Name one of them, or -1 for none");
}

/// From the largest down.
inline std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t p = 1; p <= n / p; ++p)
    if (n % p == 0) all.push_back(n / p);
  for (std::size_t i = all.size(); i-- > 0;)
    if (n / all[i] != all[i]) all.push_back(n / all[i]);
  return all;
}

KEEL_INLINE indices best_cut(grid const& g, indices const& cells, int parts, bool as_wanted, std::int64_t again) {
  indices best, now;
  // In a grid without ghosts, whose variables may have some of their own, each cell at a cut counts.
  bool has_ghosts = false;
  for (int d = 0; d < g.rank(); ++d) has_ghosts = has_ghosts || g.width(d) > 0;
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::int64_t> const factors = divisors_of(parts);
  auto const search = [&](auto const& self, int d, std::int64_t left) -> void {
    if (d == g.rank()) {
      if (left != 1 || (g.folds().is_cube && now[0] * again % panels != 0)) return;
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

// Element i is at i + 1/2 along a dimension, in units of cells, or at i if elements lie on the ends of cells. A fold
// turns columns about a pole at 0 or 1/2, of n, and rows about one at m or m - 1/2, of m: two elements that are one
// have places that add up to the same number.
struct fold_sums {
  std::int64_t rows, columns;
  explicit fold_sums(share const& s)
      : rows(2 * (s.global_extents[s.folds.at] - s.longer[s.folds.at]) - sum_in(s, s.folds.at)),
        columns(s.folds.along < 0 ? 0 : 2 * (s.folds.is_centred(s.folds.along) ? 1 : 0) - sum_in(s, s.folds.along)) {}

private:
  // Twice the place of the pole in a cell, and of an element.
  static std::int64_t sum_in(share const& s, int d) { return (s.folds.is_centred(d) ? 1 : 0) + (1 - s.longer[d]); }
};

// Of two elements of the row on the fold that are one, the owner is that in the first half of the columns.
KEEL_INLINE twin_row twins_in(share const& s) {
  folding const& f = s.folds;
  if (f.at < 0) return {};
  fold_sums const sum(s);
  std::int64_t const last = s.global_extents[f.at] - 1, first = f.along < 0 ? 0 : s.longer[f.along],
                     n = f.along < 0 ? 1 : s.global_extents[f.along];
  if (sum.rows < 2 * last) return {last, first, first + n}; // the row is beyond the fold
  if (sum.rows > 2 * last || f.along < 0) return {};
  return {last, (sum.columns + n) / 2 + 1, std::min(sum.columns + n - first + 1, first + n)};
}

KEEL_INLINE std::vector<zone> zones_of(share const& s) {
  std::vector<zone> all(1);
  folding const& f = s.folds;
  if (f.at < 0) return all;
  fold_sums const sum(s);
  auto const mirror = [](zone_along& one, std::int64_t to) { one.is_mirrored = true, one.sum = to; };
  auto const add = [&](std::int64_t begin, std::int64_t end, bool is_beyond) -> zone& {
    zone& made = all.emplace_back();
    made.along[f.at].begin = begin, made.along[f.at].end = end, made.is_beyond = is_beyond;
    if (is_beyond) mirror(made.along[f.at], sum.rows);
    if (is_beyond && f.along >= 0) mirror(made.along[f.along], sum.columns);
    return made;
  };
  std::int64_t const row = (sum.rows + 1) / 2; // on the fold, or the first one beyond it
  all[0].along[f.at].end = row;
  if (sum.rows % 2 != 0) return add(row, zone_along::most, true), all;
  add(row + 1, zone_along::most, true);
  if (f.along < 0) return all[0].along[f.at].end = row + 1, all;
  std::int64_t const n = s.global_extents[f.along];
  twin_row const twins = twins_in(s);
  add(row, row + 1, false).along[f.along].owner_end = twins.begin;
  add(row, row + 1, false).along[f.along].owner_begin = twins.end;
  zone_along& owners = add(row, row + 1, true).along[f.along];
  owners.owner_begin = sum.columns + n - twins.end + 1, owners.owner_end = sum.columns + n - twins.begin + 1;
  return all;
}

// Of a cube, whose blocks lie on one panel each.
inline cut_positions even_cuts(share const& s, int d) {
  auto made = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t at = 0; at <= s.parts(d); ++at) made->push_back(at * s.global_extents[d] / s.parts(d));
  return made;
}

KEEL_INLINE share share_of(grid const& g, indices const& processes, indices const& blocks, int rank, int block) {
  share s;
  s.rank = g.rank();
  s.global_extents = g.extents();
  s.processes = processes;
  s.blocks = blocks;
  s.folds = g.folds();
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
    auto const& cuts = s.cuts[std::size_t(d)] = g.folds().is_cube ? even_cuts(s, d) : g.cuts_in(d);
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
      if (which == side::high && d == g.folds().at && cells > 0 && next == parts) s.is_folded = true;
      s.neighbour[std::size_t(d)][std::size_t(which)] =
          is_inside() ? int(rank + (next / s.blocks[d] - s.position[d]) * s.step[d]) : -1;
    }
  }
  if (!s.has_cells) s.extents = {}, s.is_folded = false;
  if (s.is_folded) { // beyond lies what mirrors the first of its columns
    int const d = s.folds.along;
    std::int64_t const n = g.extents()[d], column = (fold_sums(s).columns + n - s.global_begin[d]) % n;
    std::int64_t next = 0;
    while (begin_of(s.cuts[std::size_t(d)], n, s.processes[d], s.blocks[d], next + 1) <= column) ++next;
    s.neighbour[std::size_t(s.folds.at)][std::size_t(side::high)] =
        int(rank + (next / s.blocks[d] - s.position[d]) * s.step[d]);
  }
  return s;
}

} // namespace keel::residency::detail
