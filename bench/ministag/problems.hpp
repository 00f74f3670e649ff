// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The problems that ministag solves, and how far a state is from their exact answers. Host only.

#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ministag {

/// `sod`: G. A. Sod's shock tube (1978) along x, between walls. `blast`: a quarter of L. I. Sedov's cylindrical blast;
/// walls on the axes, open ends, cells that grow outwards.
enum class problem { sod, blast };

/// A whole state in global order, the second index fastest: cells, then faces normal to x and to y.
struct state {
  std::vector<double> density, energy, v1, v2;
  friend bool operator==(state const&, state const&) = default;
};

class setup {
public:
  setup(problem which, long nx, long ny) : which_(which), n_{nx, ny} {
    if (which == problem::blast) end_ = 1, stretch_ = 0.5;
    length_[0] = 1;
    length_[1] = which == problem::sod ? double(ny) / double(nx) : 1;
    for (long i = 0; i < nx && is_hot(i, 0); ++i)
      for (long j = 0; j < ny && is_hot(i, j); ++j) hot_ += size(0, i) * size(1, j);
  }

  [[nodiscard]] problem which() const { return which_; }
  [[nodiscard]] long cells(int d) const { return n_[d]; }
  [[nodiscard]] double end() const { return end_; }
  /// Whether the grid is open on that side: what comes there leaves. Else it is a wall.
  [[nodiscard]] bool is_open(int, int side) const { return which_ == problem::blast && side == 1; }

  /// The length of cell `k` along `d`; beyond the ends it is mirrored.
  [[nodiscard]] double size(int d, long k) const {
    if (k < 0) k = -1 - k;
    if (k >= n_[d]) k = 2 * n_[d] - 1 - k;
    double const n = double(n_[d]);
    return length_[d] / (n * (1 + 0.5 * stretch_)) * (1 + stretch_ * (double(k) + 0.5) / n);
  }
  [[nodiscard]] double middle(int d, long k) const {
    double const n = double(n_[d]), face = length_[d] / (n * (1 + 0.5 * stretch_)) *
                                           (double(k) + 0.5 * stretch_ * double(k) * double(k) / n);
    return face + 0.5 * size(d, k);
  }
  [[nodiscard]] double density(long i, long) const { return is_low(i) ? 1 : 0.125; }
  [[nodiscard]] double energy(long i, long j) const {
    if (which_ == problem::sod) return (is_low(i) ? 1 : 0.1) / (gamma - 1);
    return is_hot(i, j) ? blast_energy / 4 / hot_ : 1e-5;
  }

  /// Sod: the error of the density in the L1 norm. Blast: the largest distance of the shock from where it ought to be,
  /// over that radius, along both axes and the diagonal.
  [[nodiscard]] double error(double time, state const& s) const {
    double all = 0;
    auto const density_at = [&](long i, long j) { return s.density[std::size_t(i * n_[1] + j)]; };
    if (which_ == problem::sod) {
      for (long i = 0; i < n_[0]; ++i)
        for (long j = 0; j < n_[1]; ++j)
          all += std::abs(density_at(i, j) - exact_density((middle(0, i) - 0.5) / time)) * size(0, i) / double(n_[1]);
      return all;
    }
    double const radius = blast_radius * std::sqrt(time), front = 2; // the gas before the shock has 1, after it up to 6
    for (auto const& way : {std::array{1L, 0L}, std::array{0L, 1L}, std::array{1L, 1L}}) {
      long const a = way[0], b = way[1];
      auto const distance = [&](long k) { return std::hypot(middle(0, a * k), middle(1, b * k)); };
      double found = 0;
      for (long k = 0; a * (k + 1) < n_[0] && b * (k + 1) < n_[1]; ++k) {
        double const here = density_at(a * k, b * k), next = density_at(a * (k + 1), b * (k + 1));
        if (here > front && next <= front)
          found = distance(k) + (here - front) / (here - next) * (distance(k + 1) - distance(k));
      }
      all = std::max(all, std::abs(found / radius - 1));
    }
    return all;
  }

private:
  // J. R. Kamm and F. X. Timmes, On efficient generation of numerically robust Sedov solutions (2007): in the cylindrical
  // case with gamma = 1.4 and density 1 this energy brings the shock to this radius at time 1.
  static constexpr double blast_energy = 0.311357, blast_radius = 0.75;

  [[nodiscard]] bool is_low(long i) const { return which_ == problem::blast || 2 * i < n_[0]; }
  [[nodiscard]] bool is_hot(long i, long j) const {
    return which_ == problem::blast && ((i == 0 && j == 0) || std::hypot(middle(0, i), middle(1, j)) < 0.04);
  }

  /// The density where x / t = s in the exact solution: a fan to the left, a contact, a shock to the right.
  [[nodiscard]] static double exact_density(double s) {
    constexpr double low = 1, low_p = 1, high = 0.125, high_p = 0.1, m = (gamma - 1) / (gamma + 1);
    double const low_c = std::sqrt(gamma * low_p / low), high_c = std::sqrt(gamma * high_p / high);
    auto const behind_fan = [&](double p) {
      return 2 * low_c / (gamma - 1) * (1 - std::pow(p / low_p, (gamma - 1) / (2 * gamma)));
    };
    auto const behind_shock = [&](double p) {
      return (p - high_p) * std::sqrt(2 / ((gamma + 1) * high) / (p + m * high_p));
    };
    double p = low_p, least = high_p; // halved until both velocities are the same
    for (int n = 0; n < 60; ++n) {
      double const middle = 0.5 * (p + least);
      (behind_fan(middle) > behind_shock(middle) ? least : p) = middle;
    }
    double const u = behind_shock(p), ratio = p / high_p, after_fan = low * std::pow(p / low_p, 1 / gamma);
    if (s < -low_c) return low;
    if (s < u - std::sqrt(gamma * p / after_fan)) return low * std::pow(1 - m - m * s / low_c, 2 / (gamma - 1));
    if (s < u) return after_fan;
    if (s < high_c * std::sqrt(((gamma + 1) * ratio + gamma - 1) / (2 * gamma)))
      return high * (ratio + m) / (m * ratio + 1);
    return high;
  }

  problem which_;
  long n_[2];
  double length_[2]{}, end_ = 0.2, stretch_ = 0, hot_ = 0;
};

} // namespace ministag
