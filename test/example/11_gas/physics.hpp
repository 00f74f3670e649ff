// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A gas in a box, in two dimensions: what it is made of, and how it changes in a step. Here are declarations, which
/// cost the compiler little more than Kokkos. The bodies of routines stand in advance.cpp and box.cpp, and main.cpp is
/// the one source that pays for all of keel.

#include <keel/device/defaults.hpp>
#include <keel/residency/declare.hpp>
#include <keel/space/devices.hpp>

#include <cmath>

namespace gas {

namespace kr = keel::residency;

/// The program: each routine is compiled for each of these devices.
struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::tbb, keel::cuda, keel::simulated>>;
};

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

/// Gas at rest, with a hundred times the pressure within a tenth of the box around its middle.
struct ignite : kr::routine<"ignite", kr::on_device, kr::writes<cells>> {
  template <class V>
  static void run(V v);
};

/// The box has solid walls: beyond one lies the mirror image of what is inside. The halo comes from the neighbours, so
/// only walls are written, and the same routine serves every number of ranks.
struct reflect : kr::routine<"reflect", kr::on_device, kr::reads<kr::inside<cells>>, kr::writes<kr::walls<cells>>> {
  template <class V>
  static void run(V v);
};

/// One step. Reads two cells to each side, so ghosts are two cells wide.
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::past<cells, 1>>, kr::writes<cells>> {
  template <class V>
  static void run(V v, step_size const& s);
};

/// The time that the fastest wave takes through half a cell, on this rank.
struct measure : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<cells>>> {
  template <class V>
  static double run(V v, step_size const& s);
};

// The gas of the last step becomes the past; what is written is exchanged, and mirrored at the walls.
struct step : kr::schedule<kr::cycle<cells>, advance, kr::exchange<cells>, reflect> {};

} // namespace gas
