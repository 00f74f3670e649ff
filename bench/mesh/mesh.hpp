// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A mesh of Voronoi cells with what MPAS keeps of one: who lies beside whom, lengths and areas. Host only; every rank
/// makes the whole of it, with the same bits.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace trisk {

inline constexpr double pi = 3.14159265358979323846;

struct point {
  double x = 0, y = 0, z = 0;

  friend point operator+(point a, point b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend point operator-(point a, point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend point operator*(double s, point a) { return {s * a.x, s * a.y, s * a.z}; }
};
inline double dot(point a, point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline point cross(point a, point b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline double norm(point a) { return std::sqrt(dot(a, a)); }

/// A sphere around the origin, or a plane with periods; positions are in m.
struct surface {
  double radius = 0;                 ///< 0: a plane
  double x_period = 0, y_period = 0; ///< of the plane

  [[nodiscard]] bool is_sphere() const { return radius > 0; }
  /// `p` moved to the sphere.
  [[nodiscard]] point onto(point p) const { return is_sphere() ? (radius / norm(p)) * p : p; }
  /// From `a` to `b` the shortest way.
  [[nodiscard]] point way(point a, point b) const {
    point d = b - a;
    if (!is_sphere()) d.x -= x_period * std::round(d.x / x_period), d.y -= y_period * std::round(d.y / y_period);
    return d;
  }
  [[nodiscard]] double distance(point a, point b) const {
    double const chord = norm(way(a, b));
    return is_sphere() ? 2 * radius * std::asin(chord / (2 * radius)) : chord;
  }
  [[nodiscard]] point middle(point a, point b) const { return onto(a + 0.5 * way(a, b)); }
  /// The point that is as far from each of three, which lie anticlockwise.
  [[nodiscard]] point centre(point a, point b, point c) const {
    point const u = way(a, b), v = way(a, c);
    if (is_sphere()) return onto(cross(u, v));
    double const uu = dot(u, u), vv = dot(v, v), d = 2 * (u.x * v.y - u.y * v.x);
    return a + point{(v.y * uu - u.y * vv) / d, (u.x * vv - v.x * uu) / d};
  }
  /// The area of a triangle whose corners lie anticlockwise. On the sphere: A. van Oosterom, J. Strackee (1983).
  [[nodiscard]] double area(point a, point b, point c) const {
    point const u = way(a, b), v = way(a, c);
    if (!is_sphere()) return 0.5 * (u.x * v.y - u.y * v.x);
    double const rr = radius * radius;
    return 2 * rr * std::atan2(dot(a, cross(u, v)) / radius, rr + dot(a, b) + dot(b, c) + dot(c, a));
  }
  /// The vertical at `p`, of length 1.
  [[nodiscard]] point up(point p) const { return is_sphere() ? (1 / radius) * p : point{0, 0, 1}; }
  [[nodiscard]] point east(point p) const {
    if (!is_sphere()) return {1, 0, 0};
    point const e{-p.y, p.x, 0};
    return norm(e) > 0 ? (1 / norm(e)) * e : point{0, 1, 0};
  }
  [[nodiscard]] point north(point p) const { return cross(up(p), east(p)); }
};

inline constexpr int most_edges = 6; ///< of a cell

/// Cells, edges and vertices by number. The normal of an edge points from its first cell to its second, its tangent,
/// which lies to the left of that, from its first vertex to its second. All lists around an element go anticlockwise.
struct mesh {
  surface on;
  std::vector<point> cells, edges, vertices;
  std::vector<std::array<int, 2>> cells_on_edge, vertices_on_edge;
  /// Edge j lies between vertices j - 1 and j; a pentagon ends with -1.
  std::vector<std::array<int, most_edges>> edges_on_cell, vertices_on_cell;
  /// Edge k lies between cells k and k + 1.
  std::vector<std::array<int, 3>> cells_on_vertex, edges_on_vertex;
  std::vector<std::array<double, 3>> kites; ///< the part of each of these cells in the triangle of a vertex, m2
  std::vector<double> dc, dv;               ///< of an edge: between its cells, between its vertices, m
  std::vector<double> area_cell, area_triangle;

  [[nodiscard]] int degree(int cell) const { return edges_on_cell[std::size_t(cell)].back() < 0 ? 5 : 6; }
  /// The normal of an edge, of length 1.
  [[nodiscard]] point normal(int edge) const {
    auto const [a, b] = cells_on_edge[std::size_t(edge)];
    point const n = on.way(cells[std::size_t(a)], cells[std::size_t(b)]);
    return (1 / norm(n)) * n;
  }
  [[nodiscard]] point tangent(int edge) const { return cross(on.up(edges[std::size_t(edge)]), normal(edge)); }
  /// The angle of the normal, from the east, anticlockwise: angleEdge of MPAS.
  [[nodiscard]] double angle(int edge) const {
    point const at = edges[std::size_t(edge)], n = normal(edge);
    return std::atan2(dot(n, on.north(at)), dot(n, on.east(at)));
  }
  /// 1 if the normal of `edge` leaves `cell`, else -1.
  [[nodiscard]] double outward(int cell, int edge) const {
    return cells_on_edge[std::size_t(edge)][0] == cell ? 1 : -1;
  }
  [[nodiscard]] double kite(int vertex, int cell) const {
    auto const& around = cells_on_vertex[std::size_t(vertex)];
    return kites[std::size_t(vertex)][std::size_t(std::ranges::find(around, cell) - around.begin())];
  }
};

/// The edges that a tangential velocity is made of, with their weights; the rest are 0.
struct tangential_weights {
  std::array<int, 2 * (most_edges - 1)> edges;
  std::array<double, 2 * (most_edges - 1)> weights{};
};

/// J. Thuburn, T. Ringler, W. Skamarock, J. Klemp, Numerical representation of geostrophic modes on arbitrarily
/// structured C-grids (2009), equation 33: half, less the share of the cell that was passed on the way round.
inline tangential_weights weights_on_edge(mesh const& m, int edge) {
  tangential_weights made;
  made.edges.fill(edge);
  std::size_t at = 0;
  for (int const cell : m.cells_on_edge[std::size_t(edge)]) {
    auto const& edges = m.edges_on_cell[std::size_t(cell)];
    auto const& vertices = m.vertices_on_cell[std::size_t(cell)];
    int const n = m.degree(cell), first = int(std::ranges::find(edges, edge) - edges.begin());
    double share = 0;
    for (int k = 1; k < n; ++k, ++at) {
      share += m.kite(vertices[std::size_t((first + k - 1) % n)], cell) / m.area_cell[std::size_t(cell)];
      int const other = made.edges[at] = edges[std::size_t((first + k) % n)];
      made.weights[at] = m.outward(cell, edge) * m.outward(cell, other) * (0.5 - share) * m.dv[std::size_t(other)] /
                         m.dc[std::size_t(edge)];
    }
  }
  return made;
}

namespace detail {

/// Triangles by number, anticlockwise around each of their corners; each begins with the cell.
inline std::vector<std::vector<std::pair<int, std::array<int, 3>>>>
triangles_around(std::size_t cells, std::vector<std::array<int, 3>> const& triangles) {
  std::vector<std::vector<std::pair<int, std::array<int, 3>>>> around(cells);
  for (std::size_t v = 0; v < triangles.size(); ++v) {
    auto const [a, b, c] = triangles[v];
    around[std::size_t(a)].push_back({int(v), {a, b, c}});
    around[std::size_t(b)].push_back({int(v), {b, c, a}});
    around[std::size_t(c)].push_back({int(v), {c, a, b}});
  }
  for (auto& all : around)
    for (std::size_t j = 0; j + 1 < all.size(); ++j)
      std::swap(all[j + 1], *std::find_if(all.begin() + std::ptrdiff_t(j) + 1, all.end(),
                                          [&](auto const& t) { return t.second[1] == all[j].second[2]; }));
  return around;
}

} // namespace detail

/// The Voronoi cells around points, from the triangles between these, whose corners lie anticlockwise; each point has
/// five or six of them, and no two cells touch twice.
inline mesh make_mesh(surface const& on, std::vector<point> cells, std::vector<std::array<int, 3>> triangles) {
  mesh m{on, std::move(cells), {}, {}, {}, {}, {}, {}, std::move(triangles), {}, {}, {}, {}, {}, {}};
  auto const cell = [&](int c) { return m.cells[std::size_t(c)]; };
  m.edges_on_vertex.resize(m.cells_on_vertex.size());
  for (auto const& [a, b, c] : m.cells_on_vertex) m.vertices.push_back(on.centre(cell(a), cell(b), cell(c)));

  std::array<int, most_edges> none{};
  none.fill(-1);
  m.edges_on_cell.assign(m.cells.size(), none), m.vertices_on_cell.assign(m.cells.size(), none);
  auto const around = detail::triangles_around(m.cells.size(), m.cells_on_vertex);
  for (int c = 0; c < int(m.cells.size()); ++c) {
    auto const& mine = around[std::size_t(c)];
    for (std::size_t j = 0; j < mine.size(); ++j) {
      auto const& [v, corners] = mine[j];
      m.vertices_on_cell[std::size_t(c)][j] = v;
      int const other = corners[1], right = mine[(j + mine.size() - 1) % mine.size()].first;
      int& e = m.edges_on_cell[std::size_t(c)][j];
      if (other > c) {
        e = int(m.edges.size());
        m.edges.push_back(on.middle(cell(c), cell(other)));
        m.cells_on_edge.push_back({c, other}), m.vertices_on_edge.push_back({right, v});
        m.dc.push_back(on.distance(cell(c), cell(other)));
        m.dv.push_back(on.distance(m.vertices[std::size_t(right)], m.vertices[std::size_t(v)]));
      } else {
        auto const& there = around[std::size_t(other)];
        auto const same = std::ranges::find_if(there, [&](auto const& t) { return t.second[1] == c; });
        e = m.edges_on_cell[std::size_t(other)][std::size_t(same - there.begin())];
      }
      auto const& corners_there = m.cells_on_vertex[std::size_t(v)];
      m.edges_on_vertex[std::size_t(v)][std::size_t(std::ranges::find(corners_there, c) - corners_there.begin())] = e;
    }
  }

  m.area_cell.assign(m.cells.size(), 0);
  for (std::size_t v = 0; v < m.vertices.size(); ++v) {
    auto const edge = [&](std::size_t k) { return m.edges[std::size_t(m.edges_on_vertex[v][k % 3])]; };
    auto& kites = m.kites.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      point const c = cell(m.cells_on_vertex[v][k]);
      kites[k] = on.area(c, edge(k), m.vertices[v]) + on.area(c, m.vertices[v], edge(k + 2));
      m.area_cell[std::size_t(m.cells_on_vertex[v][k])] += kites[k];
    }
    m.area_triangle.push_back(kites[0] + kites[1] + kites[2]);
  }
  return m;
}

} // namespace trisk
