// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Into how many shares a grid is cut in each dimension, and where they begin.

#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace keel::residency::detail {

/// Where part `at` begins, if `cells` are cut into `parts` that differ by one at most, the larger ones first.
inline std::int64_t begin_of(std::int64_t cells, std::int64_t parts, std::int64_t at) {
  return at * (cells / parts) + std::min(at, cells % parts);
}
/// Where block `at` of all blocks of all ranks begins, if the ranks' parts are cut into blocks.
inline std::int64_t begin_of(cut_positions const& cuts, std::int64_t cells, std::int64_t ranks, std::int64_t blocks,
                             std::int64_t at) {
  auto const of_rank = [&](std::int64_t r) { return cuts ? (*cuts)[std::size_t(r)] : begin_of(cells, ranks, r); };
  std::int64_t const begin = of_rank(at / blocks);
  return at % blocks == 0 ? begin : begin + begin_of(of_rank(at / blocks + 1) - begin, blocks, at % blocks);
}
/// The cells of the smallest part that has some.
inline std::int64_t smallest_part(cut_positions const& cuts, std::int64_t cells, std::int64_t parts) {
  if (!cuts) return cells / parts;
  std::int64_t least = cells;
  for (std::size_t n = 1; n < cuts->size(); ++n)
    if (std::int64_t const own = (*cuts)[n] - (*cuts)[n - 1]; own != 0) least = std::min(least, own);
  return least;
}
/// Whether a rank has a place in the grid of processes. With `cuts` there may be more ranks.
inline bool has_place(indices const& processes, int dimensions, int rank) {
  std::int64_t places = 1;
  for (int d = 0; d < dimensions; ++d) places *= processes[d];
  return dimensions == 0 || rank < places;
}
/// The cells of a share along a dimension of the grid.
inline std::int64_t cells_in(share const& s, int d) {
  auto const begin = [&](std::int64_t at) {
    return begin_of(s.cuts[std::size_t(d)], s.global_extents[d], s.processes[d], s.blocks[d], at);
  };
  return s.position[d] < 0 ? 0 : begin(s.place(d) + 1) - begin(s.place(d));
}

/// The share of a rank, or that block of it, of a grid that is cut so.
[[nodiscard]] share share_of(grid const& g, indices const& processes, indices const& blocks, int rank, int block);

/// Few parts have few divisors: all products are tried, the first factor from the largest down. Zeros if none goes.
[[nodiscard]] indices best_cut(grid const& g, indices const& cells, int parts, bool as_wanted);

inline std::string text_of(int rank, auto&& number) {
  std::string all;
  for (int d = 0; d < rank; ++d) all += (d ? " x " : "") + std::to_string(number(d));
  return all;
}

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/layout/grid/grid_cut.ipp>
#endif
