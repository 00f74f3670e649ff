// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The whole grid's fields in global order, and what is measured on them. Host only; sums run in the same order whatever the ranks.

#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace ocean {

/// Where a rank's part begins in the whole grid, and its cells.
struct place {
  int i = 0, j = 0, ni = 0, nj = 0;
};

/// The last state of a run, whole.
struct state {
  std::vector<double> eta, u, v;
};

/// Adds up without losing the small parts (Neumaier 1974).
class exact_sum {
public:
  void add(double x) {
    double const t = sum_ + x;
    rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  [[nodiscard]] double value() const { return sum_ + rest_; }

private:
  double sum_ = 0, rest_ = 0;
};

/// How far a state is from the solution.
struct verdict {
  double energy = 0; ///< square root of the error's energy over the solution's
  double height = 0; ///< largest error of the elevation over the case's height; 0 where that is 0
  double volume = 0; ///< change of the volume over the volume at the start
};

inline verdict judge(experiment const& e, double time, state const& s) {
  exact_sum wrong, all, volume, start;
  double largest = 0;
  physics const& p = e.equations();
  auto const energy = [](exact_sum& sum, double weight, double x) { sum.add(0.5 * weight * x * x); };
  std::size_t cell = 0, at = 0;
  for (long i = 0; i < e.nx(); ++i)
    for (long j = 0; j < e.ny(); ++j, ++cell) {
      double const eta = e.eta(i, j, time);
      energy(wrong, p.gravity, s.eta[cell] - eta);
      energy(all, p.gravity, eta);
      double const off = std::abs(s.eta[cell] - eta);
      if (off > largest || std::isnan(off)) largest = off; // what is not a number stays so
      volume.add(depth + s.eta[cell]);
      start.add(depth + e.eta(i, j, 0));
      double u = 0, v = 0;
      for (int k = 0; k < p.layers; ++k, ++at) {
        if (k == 0 || !e.is_flat()) u = e.u(i, j, k, time), v = e.v(i, j, k, time);
        energy(wrong, p.layer_depth, s.u[at] - u);
        energy(wrong, p.layer_depth, s.v[at] - v);
        energy(all, p.layer_depth, u);
        energy(all, p.layer_depth, v);
      }
    }
  return {std::sqrt(wrong.value() / all.value()), e.height() > 0 ? largest / e.height() : 0,
          std::abs(volume.value() - start.value()) / start.value()};
}

/// eta, u and v one after another as raw doubles.
[[nodiscard]] inline std::string bytes_of(state const& s) {
  std::string bytes;
  bytes.reserve((s.eta.size() + s.u.size() + s.v.size()) * sizeof(double));
  for (auto const* field : {&s.eta, &s.u, &s.v})
    bytes.append(reinterpret_cast<char const*>(field->data()), field->size() * sizeof(double));
  return bytes;
}

} // namespace ocean
