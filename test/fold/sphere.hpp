// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a cubed sphere has where, by places on the surface of a cube from -n to n in space alone.

#include <keel/layout/grid.hpp>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace {

struct sphere {
  using point = std::array<std::int64_t, 3>;
  std::int64_t n; ///< cells along a panel
  bool is_on_faces = false;
  int corners_along = -1;

  /// A number for that cell, counted from the first one of a panel, or for the component `part` of a vector there,
  /// whose sign says where it points; 0 in corners that nobody has.
  [[nodiscard]] double value(int panel, std::int64_t i, std::int64_t j, int part) const {
    static constexpr point axes[][2] = {{{0, 1, 0}, {0, 0, 1}},   {{-1, 0, 0}, {0, 0, 1}}, {{-1, 0, 0}, {0, -1, 0}},
                                        {{0, 0, -1}, {0, -1, 0}}, {{0, 0, -1}, {1, 0, 0}}, {{0, 1, 0}, {1, 0, 0}}};
    std::int64_t const at[] = {2 * i + (is_on_faces && part == 0 ? 0 : 1), 2 * j + (is_on_faces && part == 1 ? 0 : 1)};
    auto const is_out = [&](std::int64_t k) { return k < 0 || k >= n; };
    bool const is_corner = is_out(i) && is_out(j);
    if (is_corner && corners_along < 0) return 0;
    // The paper of the panel, bent over its edges: where the axes point, and how far one has gone along each.
    point x = axes[panel][0], y = axes[panel][1];
    point up = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    point* const along[] = {&x, &y};
    std::int64_t length[] = {0, 0}; // from the middle
    point place{};
    auto const go = [&](point const& way, std::int64_t far) {
      for (int k = 0; k < 3; ++k) place[k] += far * way[k];
    };
    auto const bend = [&](int d) {
      std::int64_t const far = at[d] - n, over = std::abs(far) - n;
      int const way = far < 0 ? -1 : 1;
      if (over < 0 || (over == 0 && !(is_out(d == 0 ? i : j) && way > 0))) return (void)(length[d] = far);
      go(*along[d], way * n); // the edge; what pointed up points on, what pointed on points down
      point const on = *along[d];
      for (int k = 0; k < 3; ++k) (*along[d])[k] = -way * up[k], up[k] = way * on[k];
      length[d] = way * over;
    };
    std::int64_t const top = n;
    point const first_up = up;
    int const first = corners_along < 0 ? 0 : 1 - corners_along;
    bend(first);
    bool const is_bent = up != first_up;
    if (is_bent) go(first_up, top);
    point const second_up = up;
    bend(1 - first);
    if (!is_bent || up != second_up) go(second_up, is_bent ? 0 : top);
    for (int d = 0; d < 2; ++d) go(*along[d], length[d]);
    return number(place, part < 0 ? point{} : *along[part], part);
  }

private:
  [[nodiscard]] double number(point const& at, point const& way, int part) const {
    double const place = 1 + 3 * (double(at[0] + n) + 100.0 * double(at[1] + n) + 10000.0 * double(at[2] + n));
    if (part < 0) return place;
    int axis = 0, edge = 0; // along which the way goes; the other one at which the place is at an edge of the cube
    for (int k = 0; k < 3; ++k) axis = way[k] != 0 ? k : axis;
    bool is_edge = false;
    for (int k = 0; k < 3; ++k)
      if (k != axis && std::abs(at[k]) == n) edge = k, is_edge = std::abs(at[axis]) == n;
    if (!is_edge) return double(way[axis]) * (place + axis);
    int const into = way[axis] * at[axis] > 0 ? axis : edge, other = into == axis ? edge : axis;
    return into < other ? place : -place;
  }
};

} // namespace
