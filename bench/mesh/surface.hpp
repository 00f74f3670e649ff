// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What a mesh lies on: a sphere, or a plane that is periodic; lengths and areas there. Depends only on the standard
/// library.

#include <cmath>

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

} // namespace trisk
