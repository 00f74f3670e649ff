// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Two cases on the sphere of D. Williamson et al., A standard test set for numerical approximations to the shallow
/// water equations in spherical geometry (1992). Host only.

#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace trisk {

/// A steady zonal flow (2), whose state is its own solution, and a zonal flow over a mountain (5).
struct williamson {
  static constexpr double radius = 6371220, rotation = 7.292e-5, gravity = 9.80616, day = 86400;
  int number = 2;

  [[nodiscard]] double speed() const { return number == 2 ? 2 * pi * radius / (12 * day) : 20; }
  [[nodiscard]] double depth() const { return number == 2 ? 2.94e4 / gravity : 5960; }

  [[nodiscard]] double bottom(point p) const {
    if (number != 5) return 0;
    double const width = pi / 9, east = std::atan2(p.y, p.x) + pi / 2, north = std::asin(p.z / radius) - pi / 6;
    double const around = east > pi ? east - 2 * pi : east; // the mountain stands at 270 degrees
    return 2000 * (1 - std::min(width, std::hypot(around, north)) / width);
  }
  [[nodiscard]] double thickness(point p) const {
    double const s = p.z / radius;
    return depth() - (radius * rotation * speed() + 0.5 * speed() * speed()) * s * s / gravity - bottom(p);
  }
  [[nodiscard]] double coriolis(point p) const { return 2 * rotation * p.z / radius; }
  /// From the stream function on the vertices, so that it has no divergence.
  [[nodiscard]] double velocity(mesh const& m, std::size_t edge) const {
    auto const [right, left] = m.vertices_on_edge[edge];
    auto const stream = [&](int v) { return -speed() * m.vertices[std::size_t(v)].z; };
    return (stream(right) - stream(left)) / m.dv[edge];
  }
};

} // namespace trisk
