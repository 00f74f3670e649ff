// SPDX-License-Identifier: MIT
// Euler's equations for density, momentum and energy. Second order in space and time: slopes limited by minmod, half a
// step in each cell (MUSCL-Hancock), and fluxes between cells by Harten, Lax and van Leer (HLL). See E. F. Toro,
// Riemann Solvers and Numerical Methods for Fluid Dynamics, chapters 10 and 14.
#include "physics.hpp"

#include <keel/residency/compiled.hpp>

namespace gas {

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

template <class V>
void advance::run(V v, step_size const& s) {
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

template <class V>
double measure::run(V v, step_size const& s) {
  auto const q = v(cells{});
  double const fastest = kr::reduce_owned(
      v, keel::machine::maximum{}, KOKKOS_LAMBDA(int i, int j) {
        state const here = state_at(q, i, j);
        return std::fmax(std::abs(here.speed(0)), std::abs(here.speed(1))) + here.sound();
      });
  return 0.4 * s.dx / fastest;
}

} // namespace gas

template struct keel::residency::compiled<gas::app, gas::advance>;
template struct keel::residency::compiled<gas::app, gas::measure>;
