// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The whole grid's fields in global order, put together from the ranks' parts, and what is
/// measured on them. Host only; sums run in the same order whatever the ranks.

#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ocean {

/// Where a rank's part begins in the whole grid, and its cells.
struct place {
  int i = 0, j = 0, ni = 0, nj = 0;
};

/// The cells [i_begin, i_end) x [j_begin, j_end) of a view on the host, of rank 2 or 3, however it
/// lies, as `[(i * nj + j) * layers + k]`.
template <class View>
std::vector<double> in_order(View const& x, int i_begin, int i_end, int j_begin, int j_end) {
  std::vector<double> out;
  out.reserve(std::size_t(i_end - i_begin) * std::size_t(j_end - j_begin) * x.extent(2));
  for (int i = i_begin; i < i_end; ++i)
    for (int j = j_begin; j < j_end; ++j) {
      double const* const column = x.data() + i * std::ptrdiff_t(x.stride(0)) + j * std::ptrdiff_t(x.stride(1));
      for (std::size_t k = 0; k < x.extent(2); ++k) out.push_back(column[k * (x.extent(2) > 1 ? x.stride(2) : 1)]);
    }
  return out;
}

/// The whole field, `[(i * ny + j) * layers + k]`, from the parts of all ranks one after another,
/// each in the same order of its own.
inline std::vector<double> assemble(std::span<place const> places, std::span<double const> parts, long nx, long ny,
                                    int layers) {
  std::vector<double> whole(std::size_t(nx) * std::size_t(ny) * std::size_t(layers));
  double const* from = parts.data();
  for (place const& p : places)
    for (long i = p.i; i < p.i + p.ni; ++i) {
      std::copy_n(from, std::size_t(p.nj) * std::size_t(layers), &whole[std::size_t((i * ny + p.j) * layers)]);
      from += std::ptrdiff_t(p.nj) * layers;
    }
  return whole;
}

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
      for (int k = 0; k < p.layers; ++k, ++at) {
        double const u = e.u(i, j, k, time), v = e.v(i, j, k, time);
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
