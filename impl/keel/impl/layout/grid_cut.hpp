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
inline std::int64_t begin_of(std::int64_t cells, std::int64_t ranks, std::int64_t blocks, std::int64_t at) {
  std::int64_t const begin = begin_of(cells, ranks, at / blocks), end = begin_of(cells, ranks, at / blocks + 1);
  return begin + begin_of(end - begin, blocks, at % blocks);
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
#include <keel/impl/layout/grid_cut.ipp>
#endif
