// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The least bytes that ranks have to send each other in a step: a plain count of the ghosts that the kernels read and
/// that another rank owns. Knows nothing of keel's exchanges.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ministag {

/// Cells of the whole grid.
struct piece {
  long begin[2], count[2];
};

/// The least bytes of a grid that is cut into `pieces`, `each` of them to a rank, in the order of the ranks.
inline std::uint64_t least_bytes(std::vector<piece> const& pieces, std::size_t each, long nx, long ny) {
  std::vector<std::size_t> rank_of(std::size_t(nx * ny));
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (long i = 0; i < pieces[p].count[0]; ++i)
      for (long j = 0; j < pieces[p].count[1]; ++j)
        rank_of[std::size_t((pieces[p].begin[0] + i) * ny + pieces[p].begin[1] + j)] = p / each;

  std::uint64_t elements = 0;
  // The lower cell owns a face that two share.
  auto const add = [&](int layers, bool on_x, bool on_y) {
    long const longer[] = {on_x, on_y}, n[] = {nx, ny};
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      long low[2], high[2], own[2], end[2];
      for (int d = 0; d < 2; ++d) {
        own[d] = pieces[p].begin[d], end[d] = own[d] + pieces[p].count[d] + longer[d];
        if (own[d] > 0) own[d] += longer[d];
        low[d] = std::max(own[d] - layers, 0L), high[d] = std::min(end[d] + layers, n[d] + longer[d]);
      }
      for (long i = low[0]; i < high[0]; ++i)
        for (long j = low[1]; j < high[1]; ++j) {
          bool const is_owned = i >= own[0] && i < end[0] && j >= own[1] && j < end[1];
          long const ci = std::max(i - longer[0], 0L), cj = std::max(j - longer[1], 0L);
          if (!is_owned && rank_of[std::size_t(ci * ny + cj)] != p / each) ++elements;
        }
    }
  };
  // Before the sources, before the first sweep, before the second; the density changes in sweeps only.
  for (int layers : {3, 3}) add(layers, false, false);                             // density
  for (int layers : {3, 2, 2}) add(layers, false, false);                          // energy
  for (int layers : {2, 2, 2}) add(layers, true, false), add(layers, false, true); // velocities
  return elements * sizeof(double);
}

} // namespace ministag
