// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ministag as keel sees it: its policy, its variables, its routines with what they read and write, its step. The bodies
/// stand in lagrange.cpp and transport.cpp.

#include "kernels.hpp"
#include "problems.hpp"

#include <keel/device/defaults.hpp>
#include <keel/residency/declare.hpp>

#include <keel/schedule/graph.hpp>

#include <array>
#include <type_traits>

namespace ministag {

namespace kr = keel::residency;
namespace km = keel::machine;

struct app : keel::defaults {
  using layout = ministag::layout;
  using exchange = kr::on_device;
};

struct density : kr::variable<"density", double**> {};
struct energy : kr::variable<"energy", double**> {}; // internal, per volume
struct v1 : kr::variable<"v1", double**, kr::at<kr::face<0>>> {};
struct v2 : kr::variable<"v2", double**, kr::at<kr::face<1>>> {};
struct dx : kr::variable<"dx", double*, kr::along<0>> {}; // lengths of cells
struct dy : kr::variable<"dy", double*, kr::along<1>> {};
struct elapsed : kr::variable<"elapsed", double> {};                         // at the begin of a step
struct fastest : kr::variable<"fastest", double, kr::without_checkpoint> {}; // squared, of all cells
struct dt : kr::scratch<"dt", double> {};
struct q1 : kr::scratch<"q1", double**> {}; // artificial viscosity
struct q2 : kr::scratch<"q2", double**> {};
struct mass : kr::scratch<"mass", double**> {}; // what a sweep moves
struct heat : kr::scratch<"heat", double**> {};
struct along : kr::scratch<"along", double**> {};
struct across : kr::scratch<"across", double**> {};

/// Gas at rest, walls and all.
struct fill : kr::routine<"fill", kr::on_host,
                          kr::writes<kr::everywhere<density>, kr::everywhere<energy>, kr::everywhere<v1>,
                                     kr::everywhere<v2>, kr::everywhere<dx>, kr::everywhere<dy>, elapsed>> {
  template <class V>
  static void run(V v, setup const& what);
};

struct measure : kr::routine<"measure", kr::on_device,
                             kr::reads<kr::owned<density>, kr::owned<energy>, kr::owned<v1>, kr::owned<v2>, dx, dy>,
                             kr::writes<fastest>> {
  template <class V>
  static void run(V v);
};
/// How long the step is, and when it ends: a checkpoint has that.
struct tick : kr::routine<"tick", kr::on_device, kr::reads<fastest>, kr::writes<dt>, kr::updates<elapsed>> {
  template <class V>
  static void run(V v, double end);
};

// What reaches into the ghosts saves an exchange.
struct push : kr::routine<"push", kr::on_device, kr::reads<density, energy, dx, dy, dt>,
                          kr::updates<kr::depth<2, v1>, kr::depth<2, v2>>> {
  template <class V>
  static void run(V v, double, setup const* what);
};

struct squeeze
    : kr::routine<"squeeze", kr::on_device, kr::reads<density, dx, dy, dt, kr::depth<2, v1>, kr::depth<2, v2>>,
                  kr::writes<kr::everywhere<q1>, kr::everywhere<q2>>,
                  kr::updates<energy, kr::depth<1, v1>, kr::depth<1, v2>>> {
  template <class V>
  static void run(V v, double, setup const* what);
};

template <int D>
struct transport
    : kr::routine<D == 0 ? "sweep in x" : "sweep in y", kr::on_device,
                  kr::reads<density, kr::depth<2, energy>, kr::depth<2, v1>, kr::depth<2, v2>, dx, dy, dt>,
                  kr::writes<kr::everywhere<mass>, kr::everywhere<heat>, kr::everywhere<along>, kr::everywhere<across>>,
                  kr::updates<density, energy, v1, v2>> {
  template <class V>
  static void run(V v, double, setup const* what);
};

struct get_time : kr::routine<"get_time", kr::on_host, kr::reads<elapsed>> {
  template <class V>
  static double run(V v) {
    return v(elapsed{})();
  }
};

/// What the problems have at the ends of the grid, for some cells and the velocities. No gas passes a wall.
template <class... Cells>
struct closed : kr::schedule<kr::mirror<Cells...>, kr::mirror<kr::depth<2, v1>, kr::sign<-1, 1>>,
                             kr::mirror<kr::depth<2, v2>, kr::sign<1, -1>>> {};
using low_x = kr::on_side<0, kr::side::low>;
using low_y = kr::on_side<1, kr::side::low>;
using high_x = kr::on_side<0, kr::side::high>;
using high_y = kr::on_side<1, kr::side::high>;
template <class... Cells>
struct half_open
    : kr::schedule<kr::mirror<low_x, low_y, Cells...>, kr::mirror<low_x, low_y, kr::depth<2, v1>, kr::sign<-1, 1>>,
                   kr::mirror<low_x, low_y, kr::depth<2, v2>, kr::sign<1, -1>>,
                   kr::outflow<high_x, high_y, Cells..., kr::depth<2, v1>, kr::depth<2, v2>>> {};
template <problem P, class... Cells>
struct walls : std::conditional_t<P == problem::sod, closed<Cells...>, half_open<Cells...>> {};

template <problem P, class... Cells>
struct share : kr::schedule<kr::exchange<Cells..., kr::depth<2, v1>, kr::depth<2, v2>>, walls<P, Cells...>> {};

/// A step whose first sweep is along `D`: a graph, as the host needs nothing of it.
template <problem P, int D>
struct advance : kr::graph<measure, kr::all_reduce<km::maximum, fastest>, tick, share<P, density, energy>, push,
                           walls<P>, squeeze, share<P, kr::depth<2, energy>>, transport<D>,
                           share<P, density, kr::depth<2, energy>>, transport<1 - D>> {};
struct turn {
  static int holds(double, setup const* what, long step) { return 2 * int(what->which()) + int(step % 2); }
};
struct step : kr::schedule<kr::choose<turn, advance<problem::sod, 0>, advance<problem::sod, 1>,
                                      advance<problem::blast, 0>, advance<problem::blast, 1>>> {};

/// Mass and energy of what a rank owns.
struct weigh
    : kr::routine<"weigh", kr::on_device,
                  kr::reads<kr::owned<density>, kr::owned<energy>, kr::depth<1, v1>, kr::depth<1, v2>, dx, dy>> {
  using value_type = std::array<double, 2>;
  template <class V>
  static value_type run(V v);
};
struct totals : kr::reduce<"totals", km::plain_sum, weigh> {};
struct balance : kr::schedule<kr::exchange<kr::depth<1, v1>, kr::depth<1, v2>>, totals> {};

} // namespace ministag
