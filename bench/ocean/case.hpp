// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The cases that ocean runs: their constants, the state they start from and the state they ought
/// to be in at any later time. Host only.
///
/// | case | grid | what it is | what it shows |
/// |---|---|---|---|
/// | `wave` | periodic | a standing gravity wave on a rotating plane | second order in space and time |
/// | `jet` | closed in y | a meandering jet in geostrophic balance | that it stays where it is |
/// | `shear` | periodic | an inertial oscillation of the first mode, damped by mixing | first order in time |

#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ocean {

enum class flow { wave, jet, shear };
inline constexpr std::array<std::string_view, 3> flow_names{"wave", "jet", "shear"};

/// Constants that all cases share, in SI units: a sea of 1,000 km by 1,000 km, 100 m deep.
inline constexpr double pi = 3.14159265358979323846, length = 1e6, depth = 100, amplitude = 0.5;
inline constexpr double gravity = 9.81, coriolis = 1e-4, viscosity = 0.05;

/// A case on a grid of nx by ny cells: its equations and its solution.
///
/// Positions are global indices, so a cell's value does not depend on which rank asks for it.
class experiment {
public:
  experiment(flow which, long nx, long ny, int layers) : which_(which), nx_(nx), ny_(ny) {
    p_.layers = layers;
    p_.coriolis = coriolis;
    p_.gravity = gravity;
    p_.layer_depth = depth / layers;
    p_.dx = length / double(nx);
    p_.dy = length / double(ny);
    p_.dt = 0.25 * std::min(p_.dx, p_.dy) / std::sqrt(gravity * depth);
  }

  [[nodiscard]] physics const& equations() const { return p_; }
  /// The strength of the vertical mixing over 2 dt, between neighbouring layers.
  [[nodiscard]] double mixing_strength() const { return 2 * p_.dt * viscosity / (p_.layer_depth * p_.layer_depth); }
  [[nodiscard]] long nx() const { return nx_; }
  [[nodiscard]] long ny() const { return ny_; }
  [[nodiscard]] std::string_view name() const { return flow_names[std::size_t(which_)]; }
  [[nodiscard]] bool closed_in_y() const { return which_ == flow::jet; }
  /// Whether all layers of a column flow alike.
  [[nodiscard]] bool is_flat() const { return which_ != flow::shear; }
  /// What the largest elevation is measured against; 0 where the surface stays flat.
  [[nodiscard]] double height() const { return which_ == flow::shear ? 0 : amplitude; }

  /// Elevation in the middle of cell (i, j), m.
  [[nodiscard]] double eta(long i, long j, double t) const {
    double const x = (double(i) + 0.5) * p_.dx, y = (double(j) + 0.5) * p_.dy;
    switch (which_) {
    case flow::wave:
      return amplitude * std::cos(wave_number * x) * std::cos(wave_number * y) * std::cos(frequency() * t);
    case flow::jet: return -amplitude * std::tanh(across(x, y));
    case flow::shear: break;
    }
    return 0;
  }

  /// Eastward velocity on the west face of cell (i, j) in layer k, m/s.
  [[nodiscard]] double u(long i, long j, int k, double t) const {
    double const x = double(i) * p_.dx, y = (double(j) + 0.5) * p_.dy;
    switch (which_) {
    case flow::wave: return parallel(x, y, t) - transverse(y, x, t);
    case flow::jet: return gravity / coriolis * amplitude / width * sech2(across(x, y));
    case flow::shear: break;
    }
    return spiral(k, t) * std::cos(coriolis * t);
  }

  /// Northward velocity on the south face of cell (i, j) in layer k, m/s; 0 on a wall.
  [[nodiscard]] double v(long i, long j, int k, double t) const {
    double const x = (double(i) + 0.5) * p_.dx, y = double(j) * p_.dy;
    if (closed_in_y() && j == 0) return 0;
    switch (which_) {
    case flow::wave: return parallel(y, x, t) + transverse(x, y, t);
    case flow::jet:
      return gravity / coriolis * amplitude / width * sech2(across(x, y)) * meander * wave_number *
             std::cos(wave_number * x);
    case flow::shear: break;
    }
    return -spiral(k, t) * std::sin(coriolis * t);
  }

private:
  static constexpr double wave_number = 2 * pi / length;              // of the wave in x and in y, and of the meander
  static constexpr double width = length / 10, meander = length / 20; // of the jet

  static double sech2(double s) { return 1 / (std::cosh(s) * std::cosh(s)); }

  // wave: cos(kx) cos(ky) is the sum of two oblique plane waves, each with a velocity along its
  // wave vector, from the slope, and one across it, from the rotation.
  static double frequency() { return std::sqrt(coriolis * coriolis + 2 * gravity * depth * wave_number * wave_number); }
  static double parallel(double along, double other, double t) {
    return amplitude * frequency() / (2 * depth * wave_number) * std::sin(wave_number * along) *
           std::cos(wave_number * other) * std::sin(frequency() * t);
  }
  static double transverse(double along, double other, double t) {
    return amplitude * coriolis / (2 * depth * wave_number) * std::sin(wave_number * along) *
           std::cos(wave_number * other) * std::cos(frequency() * t);
  }

  // jet: how many widths north of its axis a place lies.
  static double across(double x, double y) { return (y - length / 2 - meander * std::sin(wave_number * x)) / width; }

  // shear: the speed of the first mode of the layers, which sums to zero over them.
  [[nodiscard]] double spiral(int k, double t) const {
    double const s = std::sin(pi / (2 * p_.layers)) / p_.layer_depth;
    return amplitude * std::cos(pi * (k + 0.5) / p_.layers) * std::exp(-4 * viscosity * s * s * t);
  }

  flow which_;
  long nx_, ny_;
  physics p_;
};

} // namespace ocean
