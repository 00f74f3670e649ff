// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Into how many shares a grid is cut in each dimension, and where they begin.

#include <keel/layout/grid.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace keel::residency::detail {

/// Where part `at` begins, if `cells` are cut into `parts` that differ by one at most, the larger ones first.
inline std::int64_t begin_of(std::int64_t cells, std::int64_t parts, std::int64_t at) {
  return at * (cells / parts) + std::min(at, cells % parts);
}
/// Where block `at` of all blocks of all ranks begins, if the ranks' parts are cut into blocks.
inline std::int64_t begin_of(std::int64_t cells, std::int64_t ranks, std::int64_t blocks, std::int64_t at) {
  std::int64_t const begin = begin_of(cells, ranks, at / blocks), end = begin_of(cells, ranks, at / blocks + 1);
  return begin + begin_of(end - begin, blocks, at % blocks);
}

/// The share of a rank, or that block of it, of a grid that is cut so.
[[nodiscard]] share share_of(grid const& g, indices const& processes, indices const& blocks, int rank, int block);

/// From the largest down.
inline std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t p = 1; p <= n / p; ++p)
    if (n % p == 0) all.push_back(n / p);
  for (std::size_t i = all.size(); i-- > 0;)
    if (n / all[i] != all[i]) all.push_back(n / all[i]);
  return all;
}

// Few parts have few divisors: all products are tried, the first factor from the largest down. Zeros if none goes.
inline indices best_cut(grid const& g, indices const& cells, int parts, bool as_wanted) {
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
      if (left % p != 0 || smallest < 1 || smallest < g.width(d) ||
          (as_wanted && g.ranks_wanted(d) != 0 && g.ranks_wanted(d) != p))
        continue;
      now[d] = p;
      self(self, d + 1, left / p);
    }
  };
  search(search, 0, parts);
  return best;
}

inline std::string text_of(int rank, auto&& number) {
  std::string all;
  for (int d = 0; d < rank; ++d) all += (d ? " x " : "") + std::to_string(number(d));
  return all;
}

} // namespace keel::residency::detail
