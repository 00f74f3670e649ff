// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ministag without keel, on one rank: the same kernels on plain views, by MDRangePolicy or by rows, with walls by hand. What keel is
/// measured against.

#include "../by_hand.hpp"
#include "kernels.hpp"
#include "problems.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ministag::by_hand {

/// `loop(box, f)` of the kernels.
template <class Space>
struct cells_of {
  Space space;
  template <class F>
  void operator()(box const& b, F const& f) const {
    if (b.begin[0] < b.end[0] && b.begin[1] < b.end[1])
      Kokkos::parallel_for("ministag",
                           bench::light(rectangle<Space>(space, {b.begin[0], b.begin[1]}, {b.end[0], b.end[1]})), f);
  }
};

template <class F>
struct row {
  static constexpr int inner = order == Kokkos::Iterate::Left ? 0 : 1;
  box cells;
  F f;
  KOKKOS_FUNCTION void operator()(int outer) const {
    int const first = cells.begin[inner], last = cells.end[inner];
    for (int k = first; k < last; ++k) inner == 0 ? f(k, outer) : f(outer, k);
  }
};
/// Runs a row of neighbours in memory by one plain loop.
template <class Space>
struct rows_of {
  Space space;
  template <class F>
  void operator()(box const& b, F const& f) const {
    constexpr int outer = 1 - row<F>::inner;
    Kokkos::parallel_for(
        "ministag",
        bench::light(Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>(space, b.begin[outer], b.end[outer])),
        row<F>{b, f});
  }
};

/// Fills the ghosts beyond the ends of the grid: mirrored at a wall, times `sign` of the direction, and continued at an
/// open end. `centred`: the direction in which the elements lie on faces, 2 if in none.
template <class Loop, class View>
void fill_walls(Loop const& loop, patch const& p, View const& x, int centred, int layers = most_ghosts) {
  for (int d = 0; d < 2; ++d)
    for (int side = 0; side < 2; ++side) {
      if (p.ends[d][side] == end::neighbour) continue;
      bool const is_open = p.ends[d][side] == end::open, is_face = d == centred;
      int const first = p.cells.begin[d], last = p.cells.end[d] - (is_face ? 0 : 1), edge = side == 0 ? first : last;
      int const twice = 2 * edge + (is_face ? 0 : side == 0 ? -1 : 1);
      box ghosts{{0, 0}, {int(x.extent(0)), int(x.extent(1))}};
      ghosts.begin[d] = side == 0 ? first - layers : last + 1;
      ghosts.end[d] = ghosts.begin[d] + layers;
      double const sign = is_face && !is_open ? -1 : 1;
      loop(
          ghosts, KOKKOS_LAMBDA(int i, int j) {
            int const k = d == 0 ? i : j, from = is_open ? edge : twice - k;
            x(i, j) = sign * (d == 0 ? x(from, j) : x(i, from));
          });
    }
}

/// `Loop` is one of these.
template <class Space, template <class> class Loop>
class gas {
  using memory = typename Space::memory_space;
  using field = Kokkos::View<double**, layout, memory>;
  using axis = Kokkos::View<double*, layout, memory>;
  using host_field = Kokkos::View<double**, layout, Kokkos::HostSpace>;
  using host_axis = Kokkos::View<double*, layout, Kokkos::HostSpace>;

public:
  gas(Space const& space, setup const& what) : loop_{space}, nx_(int(what.cells(0))), ny_(int(what.cells(1))) {
    patch_.cells = {{g, g}, {g + nx_, g + ny_}};
    for (int d = 0; d < 2; ++d)
      for (int s = 0; s < 2; ++s) patch_.ends[d][s] = what.is_open(d, s) ? end::open : end::closed;
    for (auto* x : {&density_, &energy_, &q1_, &q2_, &mass_, &heat_, &along_, &across_}) *x = make(0, 0);
    v1_ = make(1, 0), v2_ = make(0, 1);
    host_field const d("density", density_.extent(0), density_.extent(1)), e("energy", d.extent(0), d.extent(1));
    host_axis const x("dx", d.extent(0)), y("dy", d.extent(1));
    for (int i = 0; i < nx_ + 2 * g; ++i) x(i) = what.size(0, i - g);
    for (int j = 0; j < ny_ + 2 * g; ++j) y(j) = what.size(1, j - g);
    for (int i = 0; i < nx_ + 2 * g; ++i)
      for (int j = 0; j < ny_ + 2 * g; ++j) d(i, j) = what.density(i - g, j - g), e(i, j) = what.energy(i - g, j - g);
    dx_ = axis("dx", x.extent(0)), dy_ = axis("dy", y.extent(0));
    Kokkos::deep_copy(density_, d), Kokkos::deep_copy(energy_, e);
    Kokkos::deep_copy(dx_, x), Kokkos::deep_copy(dy_, y);
  }

  /// Returns how long the step was.
  double step(double left, long n) {
    double const dt = longest_step(fastest(patch_.cells, density_, energy_, v1_, v2_, dx_, dy_), left);
    walls(density_, 2, g), walls(energy_, 2, g), walls(v1_, 0), walls(v2_, 1);
    accelerate<0>(loop_, patch_.faces(0, 2), dt, density_, energy_, dx_, v1_);
    accelerate<1>(loop_, patch_.faces(1, 2), dt, density_, energy_, dy_, v2_);
    walls(v1_, 0), walls(v2_, 1);
    stress(loop_, patch_.cells.grown(1, 2), density_, v1_, v2_, q1_, q2_);
    rub(loop_, patch_.cells, dt, v1_, v2_, q1_, q2_, dx_, dy_, energy_);
    brake<0>(loop_, patch_.faces(0, 1), dt, density_, q1_, dx_, v1_);
    brake<1>(loop_, patch_.faces(1, 1), dt, density_, q2_, dy_, v2_);
    compress(loop_, patch_.cells, dt, v1_, v2_, dx_, dy_, energy_);
    walls(energy_, 2), walls(v1_, 0), walls(v2_, 1);
    sweep(n % 2, dt);
    walls(density_, 2, g), walls(energy_, 2), walls(v1_, 0), walls(v2_, 1);
    sweep(1 - n % 2, dt);
    return dt;
  }

  /// Of all cells. nvcc wants it public.
  [[nodiscard]] double fastest(box const& cells, typename field::const_type const& density,
                               typename field::const_type const& energy, typename field::const_type const& v1,
                               typename field::const_type const& v2, typename axis::const_type const& dx,
                               typename axis::const_type const& dy) const {
    double found = 0;
    Kokkos::parallel_reduce(
        "fastest",
        Kokkos::Experimental::require(
            rectangle<Space>(loop_.space, {cells.begin[0], cells.begin[1]}, {cells.end[0], cells.end[1]}),
            Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        KOKKOS_LAMBDA(int i, int j, double& most) {
          double const squared = squared_rate(density, energy, v1, v2, dx, dy, i, j);
          most = squared > most ? squared : most;
        },
        Kokkos::Max<double>(found));
    return found;
  }
  [[nodiscard]] state whole() const {
    return {owned(density_, 0, 0), owned(energy_, 0, 0), owned(v1_, 1, 0), owned(v2_, 0, 1)};
  }
  void fence() const { loop_.space.fence(); }

private:
  using const_field = typename field::const_type;
  using const_axis = typename axis::const_type;
  static constexpr int g = most_ghosts;

  [[nodiscard]] field make(int more_x, int more_y) const {
    return field("ministag", std::size_t(nx_ + 2 * g + more_x), std::size_t(ny_ + 2 * g + more_y));
  }
  void walls(field const& x, int centred, int layers = 2) const { fill_walls(loop_, patch_, x, centred, layers); }
  void sweep(long d, double dt) const {
    if (d == 0)
      ministag::sweep<0>(loop_, patch_, dt, density_, energy_, v1_, v2_, dx_, dy_, mass_, heat_, along_, across_);
    else ministag::sweep<1>(loop_, patch_, dt, density_, energy_, v2_, v1_, dy_, dx_, mass_, heat_, along_, across_);
  }
  [[nodiscard]] std::vector<double> owned(field const& x, int more_x, int more_y) const {
    host_field const h("on the host", x.extent(0), x.extent(1));
    Kokkos::deep_copy(h, x);
    std::vector<double> all;
    for (int i = g; i < g + nx_ + more_x; ++i)
      for (int j = g; j < g + ny_ + more_y; ++j) all.push_back(h(i, j));
    return all;
  }

  Loop<Space> loop_;
  int nx_, ny_;
  patch patch_{};
  field density_, energy_, v1_, v2_, q1_, q2_, mass_, heat_, along_, across_;
  axis dx_, dy_;
};

} // namespace ministag::by_hand
