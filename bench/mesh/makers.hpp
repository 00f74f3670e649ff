// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The meshes of this folder: hexagons on a plane, and an icosahedron's cells on a sphere. Cells are numbered along a
/// curve that fills space, so that a piece of the numbers is a piece of the mesh.

#include "mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace trisk {

namespace detail {

/// The place of a cell of a cube on Hilbert's curve, from 21 bits of each coordinate (J. Skilling, 2004).
inline std::uint64_t place_on_curve(std::array<std::uint32_t, 3> x) {
  constexpr int bits = 21;
  for (std::uint32_t high = 1u << (bits - 1); high > 1; high >>= 1)
    for (auto& one : x) {
      std::uint32_t const low = high - 1, swapped = (one & high) != 0 ? 0 : (x[0] ^ one) & low;
      if ((one & high) != 0) x[0] ^= low;
      x[0] ^= swapped, one ^= swapped;
    }
  x[1] ^= x[0], x[2] ^= x[1];
  std::uint32_t turned = 0;
  for (std::uint32_t high = 1u << (bits - 1); high > 1; high >>= 1) turned ^= (x[2] & high) != 0 ? high - 1 : 0;
  std::uint64_t place = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    for (auto const one : x) place = place << 1 | ((one ^ turned) >> bit & 1);
  return place;
}

/// Numbers the cells along the curve and the triangles by their cells; then the mesh of them.
inline mesh along_curve(surface const& on, std::vector<point> const& cells, std::vector<std::array<int, 3>> triangles) {
  double size = 0;
  for (point const p : cells) size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  auto const bits = [&](double x) { return std::uint32_t((x / size + 1) / 2 * ((1 << 21) - 1)); };
  std::vector<std::pair<std::uint64_t, int>> order;
  for (int c = 0; c < int(cells.size()); ++c) {
    point const p = cells[std::size_t(c)];
    order.push_back({place_on_curve({bits(p.x), bits(p.y), bits(p.z)}), c});
  }
  std::ranges::sort(order);
  std::vector<int> number(cells.size());
  std::vector<point> ordered;
  for (auto const& [place, c] : order)
    number[std::size_t(c)] = int(ordered.size()), ordered.push_back(cells[std::size_t(c)]);
  for (auto& t : triangles) {
    for (int& c : t) c = number[std::size_t(c)];
    std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  }
  std::ranges::sort(triangles);
  return make_mesh(on, std::move(ordered), std::move(triangles));
}

/// Each cell to the centroid of its Voronoi cell (S. Lloyd, 1982).
inline void centre_cells(surface const& on, std::vector<point>& cells,
                         std::vector<std::array<int, 3>> const& triangles) {
  std::vector<point> sums(cells.size());
  for (auto const& t : triangles) {
    auto const cell = [&](std::size_t k) { return cells[std::size_t(t[k % 3])]; };
    point const v = on.centre(cell(0), cell(1), cell(2));
    for (std::size_t k = 0; k < 3; ++k) {
      point const c = cell(k), next = on.middle(c, cell(k + 1)), last = on.middle(cell(k + 2), c);
      point& sum = sums[std::size_t(t[k])];
      sum = sum + on.area(c, next, v) * (c + next + v) + on.area(c, v, last) * (c + v + last);
    }
  }
  for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = on.onto(sums[c]);
}

/// For each side, its number as a side of the other triangle; side 3 t + k faces corner k of triangle t.
inline std::vector<std::size_t> other_sides(std::vector<std::array<int, 3>> const& triangles) {
  std::vector<std::pair<std::pair<int, int>, std::size_t>> sides;
  for (std::size_t t = 0; t < triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k)
      sides.push_back({std::minmax(triangles[t][(k + 1) % 3], triangles[t][(k + 2) % 3]), 3 * t + k});
  std::ranges::sort(sides);
  std::vector<std::size_t> other(sides.size());
  for (std::size_t n = 0; n < sides.size(); ++n) other[sides[n].second] = sides[n ^ 1].second;
  return other;
}

/// A cell's edge is crossed in its middle if the angles that face it from both sides are equal. Then TRiSK's kinetic
/// energy is that of a uniform flow, also beside a pentagon, where centroids alone leave an error that does not fall
/// with the width. This lessens the squares of the differences of their cotangents, by steps downhill; R. Heikes,
/// D. Randall (1995) lessen the offsets themselves.
inline void centre_crossings(surface const& on, std::vector<point>& cells,
                             std::vector<std::array<int, 3>> const& triangles, int rounds) {
  auto const corner = [&](std::size_t side, std::size_t k) { return std::size_t(triangles[side / 3][(side + k) % 3]); };
  auto const arm = [&](std::size_t side, std::size_t k) { return cells[corner(side, k)] - cells[corner(side, 0)]; };
  auto const other = other_sides(triangles);
  std::vector<double> cotangents(other.size());
  std::vector<point> slopes(cells.size());
  for (int n = 0; n < rounds; ++n) {
    for (std::size_t side = 0; side < other.size(); ++side) {
      point const a = arm(side, 1), b = arm(side, 2);
      cotangents[side] = dot(a, b) / norm(cross(a, b));
    }
    for (point& p : slopes) p = 0.9 * p; // momentum: a fifth of the rounds
    for (std::size_t side = 0; side < other.size(); ++side) {
      point const a = arm(side, 1), b = arm(side, 2), up = cross(a, b);
      double const tilt = cotangents[side] / norm(up), off = cotangents[side] - cotangents[other[side]];
      point const first = off * (b - tilt * cross(b, up)), second = off * (a - tilt * cross(up, a));
      auto const add = [&](std::size_t k, point p) { slopes[corner(side, k)] = slopes[corner(side, k)] + p; };
      add(0, -1 * (first + second)), add(1, first), add(2, second);
    }
    for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = on.onto(cells[c] - 0.06 * slopes[c]);
  }
}

} // namespace detail

/// Where a smooth function is, to second order, its mean over each cell of a sphere.
inline std::vector<point> centroids(mesh const& m) {
  auto all = m.cells;
  detail::centre_cells(m.on, all, m.cells_on_vertex);
  return all;
}

/// Hexagons of width `dc`, the first in the origin, odd rows shifted by half of it; `ny` is even, both are 4 or more.
inline mesh hexagons(int nx, int ny, double dc) {
  double const height = dc * std::sqrt(3.0) / 2;
  auto const at = [&](int i, int j) { return (j + ny) % ny * nx + (i + nx) % nx; };
  std::vector<point> cells;
  std::vector<std::array<int, 3>> triangles;
  for (int j = 0; j < ny; ++j)
    for (int i = 0; i < nx; ++i) {
      cells.push_back({dc * (i + 0.5 * (j % 2)), height * j});
      int const above = i + j % 2; // and to the right
      triangles.push_back({at(i, j), at(i + 1, j), at(above, j + 1)});
      triangles.push_back({at(i, j), at(above, j + 1), at(above - 1, j + 1)});
    }
  return detail::along_curve({0, nx * dc, ny * height}, cells, std::move(triangles));
}

/// 10 * 4^level + 2 cells: an icosahedron whose edges are halved `level` times; each time, cells move to their centroids
/// ten times. In the end, edges are crossed near their middles.
inline mesh icosahedral(int level, double radius) {
  constexpr int rounds = 10;
  surface const on{radius};
  double const height = 1 / std::sqrt(5.0), across = 2 * height;
  std::vector<point> cells{{0, 0, 1}};
  for (int k = 0; k < 5; ++k)
    cells.push_back({across * std::cos(0.4 * pi * k), across * std::sin(0.4 * pi * k), height});
  for (int k = 0; k < 5; ++k)
    cells.push_back({across * std::cos(0.4 * pi * (k + 0.5)), across * std::sin(0.4 * pi * (k + 0.5)), -height});
  cells.push_back({0, 0, -1});
  for (point& p : cells) p = on.onto(p);
  std::vector<std::array<int, 3>> triangles;
  for (int k = 0; k < 5; ++k) {
    int const a = 1 + k, b = 1 + (k + 1) % 5, below = a + 5, next = b + 5;
    triangles.insert(triangles.end(), {{0, a, b}, {a, below, b}, {b, below, next}, {11, next, below}});
  }
  for (int n = 0; n < level; ++n) {
    std::map<std::pair<int, int>, int> middles;
    auto const middle = [&](int a, int b) {
      auto const [found, is_new] = middles.insert({std::minmax(a, b), int(cells.size())});
      if (is_new) cells.push_back(on.middle(cells[std::size_t(a)], cells[std::size_t(b)]));
      return found->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (auto const& [a, b, c] : triangles) {
      int const ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    triangles = std::move(finer);
    for (int k = 0; k < rounds; ++k) detail::centre_cells(on, cells, triangles);
  }
  detail::centre_crossings(on, cells, triangles, 4 * rounds);
  return detail::along_curve(on, cells, std::move(triangles));
}

} // namespace trisk
