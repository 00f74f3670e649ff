// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The case that all ways of an exchange share: equal boxes of a grid that is cut over the ranks, in the order of MPI's
/// Cartesian ranks. An array is a box with its ghosts, the last dimension and then the doubles of a cell fastest.

#include "cut.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace bench {

using triple = std::array<int, 3>;

/// A direction in which ghosts lie, as boxes of local indices.
struct piece {
  int rank;           ///< the neighbour there
  triple way;         ///< -1, 0 or 1 in each dimension
  triple rim, ghosts; ///< where the owned cells that go there begin, and the ghosts that come from there
  triple size{1, 1, 1};
};

struct box {
  int rank;                                    ///< dimensions
  int width, doubles;                          ///< of ghosts; of a cell
  bool wraps;                                  ///< in all dimensions
  triple cells{1, 1, 1}, ranks{1, 1, 1}, at{}; ///< of this rank; in each dimension; where this one is

  box(int dimensions, int cells_each, int ghost_width, int doubles_each, bool is_periodic)
      : rank(dimensions), width(ghost_width), doubles(doubles_each), wraps(is_periodic) {
    triple in{};
    MPI_Dims_create(all_ranks(), rank, in.data());
    int me = my_rank();
    for (int d = rank; d-- > 0; me /= in[std::size_t(d)])
      cells[std::size_t(d)] = cells_each, ranks[std::size_t(d)] = in[std::size_t(d)],
      at[std::size_t(d)] = me % in[std::size_t(d)];
  }
  [[nodiscard]] int ghosted(std::size_t d) const { return cells[d] + (int(d) < rank ? 2 * width : 0); }
  /// Where the doubles of the cell at these local indices begin, ghosts counted.
  [[nodiscard]] std::size_t place(triple const& i) const {
    return ((std::size_t(i[0]) * std::size_t(ghosted(1)) + std::size_t(i[1])) * std::size_t(ghosted(2)) +
            std::size_t(i[2])) *
           std::size_t(doubles);
  }
  [[nodiscard]] std::size_t elements() const { return place({ghosted(0), 0, 0}); }
  /// The rank of the box that lies there; -1 beyond the ends of the grid.
  [[nodiscard]] int neighbour(triple const& way) const {
    int r = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      int const there = at[d] + way[d];
      if (!wraps && (there < 0 || there >= ranks[d])) return -1;
      r = r * ranks[d] + (there + ranks[d]) % ranks[d];
    }
    return r;
  }
  /// All directions with a neighbour, in ascending order.
  [[nodiscard]] std::vector<piece> pieces() const {
    std::vector<piece> all;
    for_each_cell({-1, rank > 1 ? -1 : 0, rank > 2 ? -1 : 0}, {2, rank > 1 ? 2 : 1, rank > 2 ? 2 : 1},
                  [&](triple const& way) {
                    if (int const r = neighbour(way); r >= 0 && way != triple{}) all.push_back(piece_of(way, r));
                  });
    return all;
  }
  [[nodiscard]] piece piece_of(triple const& way, int r) const {
    piece p{r, way, {}, {}};
    for (std::size_t d = 0; int(d) < rank; ++d) {
      p.size[d] = way[d] == 0 ? cells[d] : width;
      p.rim[d] = way[d] > 0 ? cells[d] : width;
      p.ghosts[d] = way[d] > 0 ? cells[d] + width : way[d] < 0 ? 0 : width;
    }
    return p;
  }
  /// The local indices that the cell of a ghost, which lies this way, has on the rank that owns it.
  [[nodiscard]] triple owned(triple ghost, triple const& way) const {
    for (std::size_t d = 0; d < 3; ++d) ghost[d] -= way[d] * cells[d];
    return ghost;
  }
  /// This exchange as lists.
  [[nodiscard]] cut lists() const {
    auto const element = [&](triple const& i) { return int(place(i) / std::size_t(doubles)); };
    cut c{int(elements() / std::size_t(doubles)), doubles, {}, {}};
    triple first{};
    for (std::size_t d = 0; int(d) < rank; ++d) first[d] = width;
    for_each_cell_of(first, cells, [&](triple const& i) { c.own.push_back(element(i)); });
    for (piece const& p : pieces())
      for_each_cell_of(p.ghosts, p.size,
                       [&](triple const& i) { c.ghosts.push_back({element(i), p.rank, element(owned(i, p.way))}); });
    return c;
  }
  static void for_each_cell(triple const& begin, triple const& end, auto const& f) {
    for (int i = begin[0]; i < end[0]; ++i)
      for (int j = begin[1]; j < end[1]; ++j)
        for (int k = begin[2]; k < end[2]; ++k) f(triple{i, j, k});
  }
  /// Calls f(local indices) for the cells of a box.
  static void for_each_cell_of(triple const& begin, triple const& size, auto const& f) {
    for_each_cell(begin, {begin[0] + size[0], begin[1] + size[1], begin[2] + size[2]}, f);
  }
};

} // namespace bench
