// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A gas in a box, in two dimensions: what it is made of, and how it changes in a step. A source that holds physics
/// includes only declarations, which cost the compiler little more than Kokkos; main.cpp is the one source that pays
/// for all of keel.
///
/// Euler's equations for density, momentum and energy. Second order in space and time: slopes limited by minmod, half a
/// step in each cell (MUSCL-Hancock), and fluxes between cells by Harten, Lax and van Leer (HLL). See E. F. Toro,
/// Riemann Solvers and Numerical Methods for Fluid Dynamics, chapters 10 and 14.

#include <keel/residency/declare.hpp>

#include <cmath>

namespace gas {

namespace kr = keel::residency;

inline constexpr double gamma = 1.4;

/// Density, momentum in both directions and energy of a cell; or their flux.
struct state {
  double c[4];

  KOKKOS_FUNCTION double pressure() const { return (gamma - 1) * (c[3] - 0.5 * (c[1] * c[1] + c[2] * c[2]) / c[0]); }
  KOKKOS_FUNCTION double speed(int d) const { return c[1 + d] / c[0]; }
  KOKKOS_FUNCTION double sound() const { return std::sqrt(gamma * pressure() / c[0]); }
  /// What flows in direction `d`.
  KOKKOS_FUNCTION state flux(int d) const {
    double const u = speed(d), p = pressure();
    state f{{c[0] * u, c[1] * u, c[2] * u, (c[3] + p) * u}};
    f.c[1 + d] += p;
    return f;
  }
};

// The variables: the gas, now and one step ago. Its third dimension are the four numbers of a state.
struct cells : kr::variable<"cells", double***, kr::levels<2>> {};

template <class View>
KOKKOS_FUNCTION state state_at(View const& q, int i, int j) {
  return {{q(i, j, 0), q(i, j, 1), q(i, j, 2), q(i, j, 3)}};
}
template <class View>
KOKKOS_FUNCTION void set(View const& q, int i, int j, state const& s) {
  for (int c = 0; c < 4; ++c) q(i, j, c) = s.c[c];
}

/// The arguments of `step`.
struct step_size {
  double dt;     ///< seconds; what the next step may be at most, after `measure`
  double dx;     ///< metres, the width of a cell in both directions
  double smooth; ///< 1 for slopes, 0 for none
};

KOKKOS_INLINE_FUNCTION double minmod(double a, double b) { return a * b <= 0 ? 0 : std::abs(a) < std::abs(b) ? a : b; }

/// The state of cell (i, j) half a step later, at its lower (side = -1) or upper side in direction `d`.
template <class View>
KOKKOS_FUNCTION state at_side(View const& q, int i, int j, int d, int side, step_size const& s) {
  state const here = state_at(q, i, j);
  state sides[2][2]; // by direction, lower and upper
  for (int e = 0; e < 2; ++e) {
    int const di = e == 0, dj = e == 1;
    for (int c = 0; c < 4; ++c) {
      double const slope = s.smooth * minmod(here.c[c] - q(i - di, j - dj, c), q(i + di, j + dj, c) - here.c[c]);
      sides[e][0].c[c] = here.c[c] - 0.5 * slope;
      sides[e][1].c[c] = here.c[c] + 0.5 * slope;
    }
  }
  state result = sides[d][side > 0];
  for (int e = 0; e < 2; ++e) {
    state const low = sides[e][0].flux(e), high = sides[e][1].flux(e);
    for (int c = 0; c < 4; ++c) result.c[c] += 0.5 * s.dt / s.dx * (low.c[c] - high.c[c]);
  }
  return result;
}

/// What flows from `a`, on the lower side, to `b` in direction `d`.
KOKKOS_INLINE_FUNCTION state hll(state const& a, state const& b, int d) {
  double const ca = a.sound(), cb = b.sound();
  double const slowest = std::fmin(a.speed(d) - ca, b.speed(d) - cb);
  double const fastest = std::fmax(a.speed(d) + ca, b.speed(d) + cb);
  state const fa = a.flux(d), fb = b.flux(d);
  if (slowest >= 0) return fa;
  if (fastest <= 0) return fb;
  state f;
  for (int c = 0; c < 4; ++c)
    f.c[c] = (fastest * fa.c[c] - slowest * fb.c[c] + slowest * fastest * (b.c[c] - a.c[c])) / (fastest - slowest);
  return f;
}

/// Gas at rest, with a hundred times the pressure within a tenth of the box around its middle.
struct ignite : kr::routine<"ignite", kr::on_device, kr::writes<cells>> {
  template <class V>
  static void run(V v) {
    auto const q = v(cells{});
    auto const own = v.owned();
    auto const first = v.global_begin(), all = v.global_extents();
    long const di = first[0] - own.begin[0], dj = first[1] - own.begin[1];
    double const nx = double(all[0]), ny = double(all[1]);
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const x = (double(i + di) + 0.5) / nx - 0.5, y = (double(j + dj) + 0.5) / ny - 0.5;
          double const p = x * x + y * y < 0.01 ? 10 : 0.1;
          set(q, i, j, {{1, 0, 0, p / (gamma - 1)}});
        });
  }
};

/// The box has solid walls: beyond one lies the mirror image of what is inside. The halo comes from the neighbours, so
/// only walls are written, and the same routine serves every number of ranks.
struct reflect : kr::routine<"reflect", kr::on_device, kr::reads<kr::inside<cells>>, kr::writes<kr::walls<cells>>> {
  template <class V>
  static void run(V v) {
    auto const q = v(cells{});
    auto const own = v.owned();
    auto const first = v.global_begin(), all = v.global_extents();
    long const di = first[0] - own.begin[0], dj = first[1] - own.begin[1], nx = all[0], ny = all[1];
    kr::for_each_cell(
        v, v.everywhere(), KOKKOS_LAMBDA(int i, int j) {
          long const x = i + di, y = j + dj; // in the whole grid
          long const mx = x < 0 ? -1 - x : x >= nx ? 2 * nx - 1 - x : x;
          long const my = y < 0 ? -1 - y : y >= ny ? 2 * ny - 1 - y : y;
          if (mx == x && my == y) return;
          state s = state_at(q, int(mx - di), int(my - dj));
          if (mx != x) s.c[1] = -s.c[1];
          if (my != y) s.c[2] = -s.c[2];
          set(q, i, j, s);
        });
  }
};

/// One step. Reads two cells to each side, so ghosts are two cells wide.
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::past<cells, 1>>, kr::writes<cells>> {
  template <class V>
  static void run(V v, step_size const& s) {
    auto const old = v(kr::past<cells, 1>{});
    auto const now = v(cells{});
    step_size const size = s; // by value: a kernel cannot follow a reference to the host
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          state next = state_at(old, i, j);
          for (int d = 0; d < 2; ++d) {
            int const di = d == 0, dj = d == 1;
            state const low = hll(at_side(old, i - di, j - dj, d, 1, size), at_side(old, i, j, d, -1, size), d);
            state const high = hll(at_side(old, i, j, d, 1, size), at_side(old, i + di, j + dj, d, -1, size), d);
            for (int c = 0; c < 4; ++c) next.c[c] += size.dt / size.dx * (low.c[c] - high.c[c]);
          }
          set(now, i, j, next);
        });
  }
};

/// The time that the fastest wave takes through half a cell, on this rank.
struct measure : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<cells>>> {
  template <class V>
  static double run(V v, step_size const& s) {
    auto const q = v(cells{});
    double const fastest = kr::reduce_owned(
        v, keel::machine::maximum{}, KOKKOS_LAMBDA(int i, int j) {
          state const here = state_at(q, i, j);
          return std::fmax(std::abs(here.speed(0)), std::abs(here.speed(1))) + here.sound();
        });
    return 0.4 * s.dx / fastest;
  }
};

// The gas of the last step becomes the past; what is written is exchanged, and mirrored at the walls.
struct step : kr::schedule<kr::cycle<cells>, advance, kr::exchange<cells>, reflect> {};

} // namespace gas
