// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The shallow-water equations in vector-invariant form by TRiSK, which conserves mass and, but for the time step,
/// energy; in time SSP-RK3 (C.-W. Shu, S. Osher, 1988). Routines hold physics only.

#include "operators.hpp"

#include <keel/device/defaults.hpp>

#include <array>
#include <type_traits>

namespace trisk {

struct app : keel::defaults {
  using exchange = kr::on_device;
};

struct h : kr::variable<"h", double*, kr::levels<2>, kr::on_mesh<cells>> {}; // thickness, m
struct u : kr::variable<"u", double*, kr::levels<2>, kr::on_mesh<edges>> {}; // normal velocity, m/s
struct bottom : kr::variable<"bottom", double*, kr::on_mesh<cells>> {};      // its height, m
struct coriolis : kr::variable<"coriolis", double*, kr::on_mesh<vertices>> {};
/// What is computed on the way: potential vorticity on vertices and edges, mass flux, g (h + b) + K.
struct q : kr::variable<"q", double*, kr::on_mesh<vertices>> {};
struct q_edge : kr::variable<"q_edge", double*, kr::on_mesh<edges>> {};
struct flux : kr::variable<"flux", double*, kr::on_mesh<edges>> {};
struct bernoulli : kr::variable<"bernoulli", double*, kr::on_mesh<cells>> {};

struct physics {
  double dt = 0, gravity = 0; ///< s, m/s2
};

/// Potential vorticity on the vertices of owned cells and their neighbours.
template <class H, class U>
struct vorticities : kr::routine<"vorticities", kr::on_device, reads_mesh,
                                 kr::reads<kr::layer<H, 2>, kr::layer<U, 3>, coriolis>, kr::writes<kr::layer<q, 2>>> {
  template <class V>
  static void run(V v) {
    operators const on(v);
    auto const thick = v(H{});
    auto const speed = v(U{});
    auto const f = v(coriolis{});
    auto const to = v(q{});
    kr::for_each_element(
        v, through(v, kr::layer<q, 2>{}),
        KOKKOS_LAMBDA(int i) { to(i) = (f(i) + on.curl(i, speed)) / on.at_vertex(i, thick); });
  }
};

template <class H, class U>
struct fluxes
    : kr::routine<"fluxes", kr::on_device, reads_mesh, kr::reads<kr::layer<H, 2>, kr::layer<U, 2>, kr::layer<q, 2>>,
                  kr::writes<kr::layer<flux, 2>, kr::layer<q_edge, 2>>> {
  template <class V>
  static void run(V v) {
    operators const on(v);
    auto const thick = v(H{});
    auto const speed = v(U{});
    auto const vertex = v(q{});
    auto const to = v(flux{}), edge = v(q_edge{});
    kr::for_each_element(
        v, through(v, kr::layer<flux, 2>{}), KOKKOS_LAMBDA(int i) {
          to(i) = on.at_edge(i, thick) * speed(i);
          edge(i) = on.from_vertices(i, vertex);
        });
  }
};

template <class H, class U>
struct energies
    : kr::routine<"energies", kr::on_device, reads_mesh, kr::reads<kr::layer<H, 1>, kr::layer<U, 2>, bottom>,
                  kr::writes<kr::layer<bernoulli, 1>>> {
  template <class V>
  static void run(V v, physics const& p) {
    operators const on(v);
    auto const thick = v(H{}), below = v(bottom{});
    auto const speed = v(U{});
    auto const to = v(bernoulli{});
    double const g = p.gravity;
    kr::for_each_element(
        v, through(v, kr::layer<bernoulli, 1>{}),
        KOKKOS_LAMBDA(int i) { to(i) = g * (thick(i) + below(i)) + on.kinetic_energy(i, speed); });
  }
};

/// How much of the state at the begin of the step a stage keeps.
inline constexpr std::array<double, 3> kept{0, 3. / 4, 1. / 3};

/// `a x + (1 - a) y`, such that rounding of `a` neither makes nor loses mass.
KEEL_FUNCTION inline double mixed(double a, double x, double y) { return y + a * (x - y); }

/// A stage's source, and what it does to its target: the first makes it out of the level before.
template <class X, int Stage>
using source = std::conditional_t<Stage == 0, kr::past<X, 1>, X>;
template <class X, int Stage>
using target = std::conditional_t<Stage == 0, kr::writes<X>, kr::updates<X>>;

template <int Stage>
struct advance_h : kr::routine<"advance_h", kr::on_device, reads_mesh,
                               kr::reads<kr::owned<kr::past<h, 1>>, kr::layer<flux, 2>>, target<h, Stage>> {
  template <class V>
  static void run(V v, physics const& p) {
    operators const on(v);
    auto const h0 = v(kr::past<h, 1>{}), flow = v(flux{});
    auto const h1 = v(source<h, Stage>{});
    auto const h2 = v(h{});
    double const a = kept[Stage], dt = p.dt;
    kr::for_owned(v, cells{}, KOKKOS_LAMBDA(int i) { h2(i) = mixed(a, h0(i), h1(i) - dt * on.divergence(i, flow)); });
  }
};
template <int Stage>
struct advance_u
    : kr::routine<
          "advance_u", kr::on_device, reads_mesh,
          kr::reads<kr::owned<kr::past<u, 1>>, kr::layer<flux, 2>, kr::layer<q_edge, 2>, kr::layer<bernoulli, 1>>,
          target<u, Stage>> {
  template <class V>
  static void run(V v, physics const& p) {
    operators const on(v);
    auto const u0 = v(kr::past<u, 1>{}), flow = v(flux{}), spin = v(q_edge{}), b = v(bernoulli{});
    auto const u1 = v(source<u, Stage>{});
    auto const u2 = v(u{});
    double const a = kept[Stage], dt = p.dt;
    kr::for_owned(
        v, edges{}, KOKKOS_LAMBDA(int i) {
          double const du = on.vorticity_flux(i, flow, spin) - on.gradient(i, b);
          u2(i) = mixed(a, u0(i), u1(i) + dt * du);
        });
  }
};

template <int Stage, class H = source<h, Stage>, class U = source<u, Stage>>
struct stage : kr::schedule<vorticities<H, U>, fluxes<H, U>, energies<H, U>, advance_h<Stage>, advance_u<Stage>,
                            kr::exchange<h, u>> {};
struct step : kr::parallel_graph<kr::cycle<h, u>, stage<0>, stage<1>, stage<2>> {};

} // namespace trisk
