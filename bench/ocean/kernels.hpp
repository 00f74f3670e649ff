// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The kernels of ocean: one leapfrog step of a linear, rotating, layered shallow-water model on
/// an Arakawa C-grid. Rests on Kokkos alone, so that ocean.cpp and plain.cpp run the same code.
///
/// eta lives in the middle of cell (i, j), u on its west face, v on its south face; the layer is
/// the last index. A processor takes a row (fixed i) and has the layers of a column contiguous, an
/// accelerator takes a column (fixed i and j) and has neighbouring columns side by side. The
/// arithmetic of a layer is the same, so the bits depend neither on that nor on how the grid is
/// divided (compile with -ffp-contract=off).

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>

namespace ocean {

/// How arrays lie: as the space that Kokkos was built for would have them, so contiguous in the
/// layers on a processor, and in the first index on an accelerator.
using layout = Kokkos::DefaultExecutionSpace::array_layout;

/// How far apart two layers of a column lie in an array; a constant where they are neighbours.
template <class Layered>
KOKKOS_INLINE_FUNCTION auto layer_step([[maybe_unused]] Layered const& x) {
  if constexpr (std::is_same_v<typename Layered::array_layout, Kokkos::LayoutRight>)
    return std::integral_constant<std::ptrdiff_t, 1>{};
  else
    return static_cast<std::ptrdiff_t>(x.stride(2));
}

/// The largest number of layers; the factors of the mixing travel with the kernel.
inline constexpr int max_layers = 128;

/// The constants of the equations, in SI units.
struct physics {
  int layers = 1;
  double coriolis = 0;    ///< f, 1/s
  double gravity = 0;     ///< g, m/s^2
  double layer_depth = 0; ///< h, m: rest thickness of each layer
  double dx = 1, dy = 1;  ///< m
  double dt = 0;          ///< s; leapfrog steps over twice this
};

/// The implicit vertical mixing over 2 dt, (1 + a n_k) x_k - a x_{k-1} - a x_{k+1} = r_k with
/// a = 2 dt nu / h^2 and n_k neighbours, factorised once: the matrix is the same for all columns.
/// Thomas' elimination; the matrix is diagonally dominant, so no pivoting is needed.
struct mixing {
  double pivot[max_layers] = {}; ///< 1 / (diagonal after elimination)
  double carry[max_layers] = {}; ///< a * pivot: what the neighbour's value is weighted with

  mixing() = default;
  mixing(int layers, double a) {
    for (int k = 0; k < layers; ++k) {
      int const neighbours = (k > 0) + (k + 1 < layers);
      pivot[k] = 1 / (1 + a * neighbours - (k > 0 ? a * carry[k - 1] : 0));
      carry[k] = a * pivot[k];
    }
  }
};

/// The part of the grid that a rank owns, in indices of its views, ghosts left out, and whether
/// it ends at a closed wall. There v = 0, and nothing beyond is read.
struct part {
  int i_begin = 0, i_end = 0, j_begin = 0, j_end = 0;
  bool south_wall = false, north_wall = false;
};

/// The right-hand sides at the current time level.
///
///     deta = -h sum_k (du_k/dx + dv_k/dy)    du = +f v - g deta/dx    dv = -f u - g deta/dy
///
/// Reads one ghost cell all round, corners too. Streams u and v once, du and dv once.
template <class Field, class Layered, class FieldOut, class LayeredOut>
struct tendency {
  Field eta;
  Layered u, v;
  FieldOut deta;
  LayeredOut du, dv;
  physics p;
  part here;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    for (int j = here.j_begin; j < here.j_end; ++j) (*this)(i, j);
  }

  KOKKOS_INLINE_FUNCTION void operator()(int i, int j) const {
    bool const south = here.south_wall && j == here.j_begin;
    bool const north = here.north_wall && j + 1 == here.j_end;
    if (south && north) column<true, true>(i, j);
    else if (south) column<true, false>(i, j);
    else if (north) column<false, true>(i, j);
    else column<false, false>(i, j);
  }

private:
  template <bool South, bool North>
  KOKKOS_INLINE_FUNCTION void column(int i, int j) const {
    double const slope_x = p.gravity / p.dx * (eta(i, j) - eta(i - 1, j));
    double const slope_y = South ? 0 : p.gravity / p.dy * (eta(i, j) - eta(i, j - 1));
    auto const step = layer_step(u);
    layers<South, North>(p.layers, step, 0.25 * p.coriolis, slope_x, slope_y, &u(i, j, 0), &u(i + 1, j, 0),
                         &u(i, South ? j : j - 1, 0), &u(i + 1, South ? j : j - 1, 0), &v(i, j, 0),
                         &v(i - 1, j, 0), &v(i, North ? j : j + 1, 0), &v(i - 1, North ? j : j + 1, 0),
                         &du(i, j, 0), &dv(i, j, 0));
    deta(i, j) = -p.layer_depth * divergence<North>(p.layers, step, 1 / p.dx, 1 / p.dy, &u(i, j, 0),
                                                    &u(i + 1, j, 0), &v(i, j, 0), &v(i, North ? j : j + 1, 0));
  }

  template <bool South, bool North, class Step>
  KOKKOS_INLINE_FUNCTION static void layers(
      int n, Step step, double quarter_f, double slope_x, double slope_y, double const* KOKKOS_RESTRICT u_here,
      double const* KOKKOS_RESTRICT u_east, double const* KOKKOS_RESTRICT u_south,
      double const* KOKKOS_RESTRICT u_south_east, double const* KOKKOS_RESTRICT v_here,
      double const* KOKKOS_RESTRICT v_west, double const* KOKKOS_RESTRICT v_north,
      double const* KOKKOS_RESTRICT v_north_west, double* KOKKOS_RESTRICT du_here, double* KOKKOS_RESTRICT dv_here) {
    for (int k = 0; k < n; ++k) {
      auto const at = k * step;
      double const north = North ? 0 : v_north_west[at] + v_north[at];
      du_here[at] = quarter_f * (v_west[at] + v_here[at] + north) - slope_x;
      dv_here[at] = South ? 0 : -quarter_f * (u_south[at] + u_south_east[at] + (u_here[at] + u_east[at])) - slope_y;
    }
  }

  /// Summed over the layers in eight lanes, layer k in lane k mod 8, so that vector registers
  /// may hold them and the order is the same everywhere.
  template <bool North, class Step>
  KOKKOS_INLINE_FUNCTION static double divergence(int n, Step step, double per_dx, double per_dy,
                                                  double const* u_here, double const* u_east, double const* v_here,
                                                  double const* v_north) {
    auto const at = [&](int layer) {
      auto const k = layer * step;
      return (u_east[k] - u_here[k]) * per_dx + ((North ? 0 : v_north[k]) - v_here[k]) * per_dy;
    };
    double lane[8] = {};
    int k = 0;
    for (; k + 8 <= n; k += 8)
      for (int l = 0; l < 8; ++l) lane[l] += at(k + l);
    for (int l = 0; k + l < n; ++l) lane[l] += at(k + l);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
};

template <class F, class L, class FO, class LO>
tendency(F, L, L, FO, LO, LO, physics, part) -> tendency<F, L, FO, LO>;

/// The new time level: new = old + 2 dt * tendency, then the vertical mixing of u and v.
///
/// Reads and writes owned cells only. A processor solves the columns `together` at a time, which
/// hides the latency of the recurrence along a column; an accelerator has enough of them at once.
template <class Field, class Layered, class FieldOut, class LayeredOut>
struct leap {
  Field eta_old, deta;
  Layered u_old, v_old, du, dv;
  FieldOut eta;
  LayeredOut u, v;
  physics p;
  mixing mix;
  part here;

  static constexpr int together = 4;

  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    int j = here.j_begin;
    for (; j + together <= here.j_end; j += together) columns<together>(i, j);
    for (; j < here.j_end; ++j) columns<1>(i, j);
  }

  /// One column in one pass up and one down.
  KOKKOS_INLINE_FUNCTION void operator()(int i, int j) const {
    eta(i, j) = eta_old(i, j) + 2 * p.dt * deta(i, j);
    double a = 0, b = 0; // the values in the layer before
    for (int k = 0; k < p.layers; ++k) {
      u(i, j, k) = a = (u_old(i, j, k) + 2 * p.dt * du(i, j, k)) * mix.pivot[k] + mix.carry[k] * a;
      v(i, j, k) = b = (v_old(i, j, k) + 2 * p.dt * dv(i, j, k)) * mix.pivot[k] + mix.carry[k] * b;
    }
    for (int k = p.layers - 2; k >= 0; --k) {
      u(i, j, k) = a = u(i, j, k) + mix.carry[k] * a;
      v(i, j, k) = b = v(i, j, k) + mix.carry[k] * b;
    }
  }

private:
  template <int Count>
  KOKKOS_INLINE_FUNCTION void columns(int i, int j) const {
    auto const step = layer_step(u);
    for (int c = 0; c < Count; ++c) {
      eta(i, j + c) = eta_old(i, j + c) + 2 * p.dt * deta(i, j + c);
      scaled(p.layers, step, 2 * p.dt, mix.pivot, &u_old(i, j + c, 0), &du(i, j + c, 0), &u(i, j + c, 0));
      scaled(p.layers, step, 2 * p.dt, mix.pivot, &v_old(i, j + c, 0), &dv(i, j + c, 0), &v(i, j + c, 0));
    }
    sweep<Count>(p.layers, step, static_cast<std::ptrdiff_t>(u.stride(1)), mix.carry, &u(i, j, 0), &v(i, j, 0));
  }

  template <class Step>
  KOKKOS_INLINE_FUNCTION static void scaled(int n, Step step, double two_dt, double const* KOKKOS_RESTRICT pivot,
                                            double const* KOKKOS_RESTRICT x_old, double const* KOKKOS_RESTRICT dx,
                                            double* KOKKOS_RESTRICT x) {
    for (int k = 0; k < n; ++k) x[k * step] = (x_old[k * step] + two_dt * dx[k * step]) * pivot[k];
  }

  /// Elimination upwards and substitution downwards in `Count` columns that lie `across` apart.
  template <int Count, class Step>
  KOKKOS_INLINE_FUNCTION static void sweep(int n, Step step, std::ptrdiff_t across,
                                           double const* KOKKOS_RESTRICT carry, double* KOKKOS_RESTRICT x,
                                           double* KOKKOS_RESTRICT y) {
    double a[Count] = {}, b[Count] = {}; // the values in the layer before
    auto const layer = [&](int k) {
      for (int c = 0; c < Count; ++c) {
        auto const at = c * across + k * step;
        x[at] = a[c] = x[at] + carry[k] * a[c];
        y[at] = b[c] = y[at] + carry[k] * b[c];
      }
    };
    for (int k = 0; k < n; ++k) layer(k);
    for (int k = n - 2; k >= 0; --k) layer(k);
  }
};

template <class F, class L, class FO, class LO>
leap(F, F, L, L, L, L, FO, LO, LO, physics, mixing, part) -> leap<F, L, FO, LO>;

/// Whether `Space` wants a thread for each column: where Kokkos itself would rather have the
/// first index contiguous, neighbouring threads are lanes.
template <class Space>
inline constexpr bool has_lanes = std::is_same_v<typename Space::array_layout, Kokkos::LayoutLeft>;

/// Runs `kernel` for every column of `here`. Does not wait for it.
template <class Space, class Kernel>
void run_columns(char const* label, Space const& space, part here, Kernel const& kernel) {
  if constexpr (has_lanes<Space>) {
    using policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>, Kokkos::IndexType<int>>;
    Kokkos::parallel_for(label, policy(space, {here.i_begin, here.j_begin}, {here.i_end, here.j_end}), kernel);
  } else {
    using policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>;
    Kokkos::parallel_for(label, policy(space, here.i_begin, here.i_end), kernel);
  }
}

/// The bytes that one step of these kernels has to stream, counted once for each array that a
/// kernel goes through: u v | du dv, then u_old v_old du dv | u v, and the same for eta.
inline double streamed_bytes(double cells, int layers) { return 8 * cells * (10.0 * layers + 5); }

} // namespace ocean
