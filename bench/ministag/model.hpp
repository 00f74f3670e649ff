// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ministag as keel sees it: its variables, its routines with what they read and write, its step.

#include "kernels.hpp"
#include "necessary.hpp"
#include "problems.hpp"

#include <keel/keel.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace ministag {

namespace kr = keel::residency;
namespace km = keel::machine;

struct density : kr::variable<"density", double**> {};
struct energy : kr::variable<"energy", double**> {}; // internal, per volume
struct v1 : kr::variable<"v1", double**, kr::at<kr::face<0>>> {};
struct v2 : kr::variable<"v2", double**, kr::at<kr::face<1>>> {};
struct dx : kr::variable<"dx", double*, kr::along<0>> {}; // lengths of cells
struct dy : kr::variable<"dy", double*, kr::along<1>> {};
struct q1 : kr::scratch<"q1", double**> {}; // artificial viscosity
struct q2 : kr::scratch<"q2", double**> {};
struct mass : kr::scratch<"mass", double**> {}; // what a sweep moves
struct heat : kr::scratch<"heat", double**> {};
struct along : kr::scratch<"along", double**> {};
struct across : kr::scratch<"across", double**> {};

/// What a step is called with.
struct moment {
  setup const* what;
  double left; ///< time to the end
  long step;
};

/// `loop(box, f)` of the kernels.
template <class V>
struct cells_of {
  V v;
  template <class F>
  void operator()(box const& b, F const& f) const {
    kr::for_each_cell(v, {{{b.begin[0], b.begin[1]}}, {{b.end[0], b.end[1]}}}, f);
  }
};

template <class V>
patch patch_of(V const& v, setup const& what) {
  patch p;
  for (int d = 0; d < 2; ++d) {
    p.cells.begin[d] = int(v.owned().begin[d]), p.cells.end[d] = int(v.owned().end[d]);
    for (int s = 0; s < 2; ++s)
      p.ends[d][s] = !v.is_wall(d, kr::side(s)) ? end::neighbour : what.is_open(d, s) ? end::open : end::closed;
  }
  return p;
}

/// Gas at rest, walls and all.
struct fill : kr::routine<"fill", kr::on_host,
                          kr::writes<kr::everywhere<density>, kr::everywhere<energy>, kr::everywhere<v1>,
                                     kr::everywhere<v2>, kr::everywhere<dx>, kr::everywhere<dy>>> {
  template <class V>
  static void run(V v, setup const& what) {
    auto const d = v(density{}), e = v(energy{});
    long const i0 = v.global_begin()[0] - v.owned().begin[0], j0 = v.global_begin()[1] - v.owned().begin[1];
    Kokkos::deep_copy(v(v1{}), 0), Kokkos::deep_copy(v(v2{}), 0);
    for (int i = 0; i < int(d.extent(0)); ++i)
      for (int j = 0; j < int(d.extent(1)); ++j)
        d(i, j) = what.density(i + i0, j + j0), e(i, j) = what.energy(i + i0, j + j0);
    for (int i = 0; i < int(d.extent(0)); ++i) v(dx{})(i) = what.size(0, i + i0);
    for (int j = 0; j < int(d.extent(1)); ++j) v(dy{})(j) = what.size(1, j + j0);
  }
};

struct timestep : kr::routine<"timestep", kr::on_device,
                              kr::reads<kr::owned<density>, kr::owned<energy>, kr::owned<v1>, kr::owned<v2>, dx, dy>> {
  template <class V>
  static double run(V v, moment const& now) {
    double const most = longest_step(v.execution_space(), patch_of(v, *now.what).cells, v(density{}), v(energy{}),
                                     v(v1{}), v(v2{}), v(dx{}), v(dy{}));
    return std::min(most, now.left);
  }
};
struct dt : kr::reduce<"dt", km::minimum, timestep> {};

// What reaches into the ghosts saves an exchange.
struct push : kr::routine<"push", kr::on_device, kr::reads<density, energy, dx, dy, dt>,
                          kr::updates<kr::depth<2, v1>, kr::depth<2, v2>>> {
  template <class V>
  static void run(V v, moment const& now) {
    patch const p = patch_of(v, *now.what);
    accelerate<0>(cells_of<V>{v}, p.faces(0, 2), v(dt{}), v(density{}), v(energy{}), v(dx{}), v(v1{}));
    accelerate<1>(cells_of<V>{v}, p.faces(1, 2), v(dt{}), v(density{}), v(energy{}), v(dy{}), v(v2{}));
  }
};

struct squeeze
    : kr::routine<"squeeze", kr::on_device, kr::reads<density, dx, dy, dt, kr::depth<2, v1>, kr::depth<2, v2>>,
                  kr::writes<kr::everywhere<q1>, kr::everywhere<q2>>,
                  kr::updates<energy, kr::depth<1, v1>, kr::depth<1, v2>>> {
  template <class V>
  static void run(V v, moment const& now) {
    patch const p = patch_of(v, *now.what);
    cells_of<V> const loop{v};
    auto const d = v(density{});
    auto const x = v(dx{}), y = v(dy{});
    auto const e = v(energy{}), a = v(v1{}), b = v(v2{}), q = v(q1{}), r = v(q2{});
    double const step = v(dt{});
    stress(loop, p.cells.grown(1, 2), d, a, b, q, r);
    rub(loop, p.cells, step, a, b, q, r, x, y, e);
    brake<0>(loop, p.faces(0, 1), step, d, q, x, a);
    brake<1>(loop, p.faces(1, 1), step, d, r, y, b);
    compress(loop, p.cells, step, a, b, x, y, e);
  }
};

template <int D>
struct transport
    : kr::routine<D == 0 ? "sweep in x" : "sweep in y", kr::on_device,
                  kr::reads<density, kr::depth<2, energy>, kr::depth<2, v1>, kr::depth<2, v2>, dx, dy, dt>,
                  kr::writes<kr::everywhere<mass>, kr::everywhere<heat>, kr::everywhere<along>, kr::everywhere<across>>,
                  kr::updates<density, energy, v1, v2>> {
  template <class V>
  static void run(V v, moment const& now) {
    auto const d = v(density{}), e = v(energy{}), a = v(v1{}), b = v(v2{});
    auto const x = v(dx{}), y = v(dy{});
    sweep<D>(cells_of<V>{v}, patch_of(v, *now.what), v(dt{}), d, e, D == 0 ? a : b, D == 0 ? b : a, D == 0 ? x : y,
             D == 0 ? y : x, v(mass{}), v(heat{}), v(along{}), v(across{}));
  }
};

struct problem_of {
  static problem holds(moment const& now) { return now.what->which(); }
};
struct turn {
  static int holds(moment const& now) { return int(now.step % 2); }
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
template <class... Cells>
struct walls : kr::choose<problem_of, closed<Cells...>, half_open<Cells...>> {};

template <class... Cells>
struct share : kr::schedule<kr::exchange<Cells..., kr::depth<2, v1>, kr::depth<2, v2>>, walls<Cells...>> {};
struct share_swept : share<density, kr::depth<2, energy>> {};

struct step : kr::schedule<dt, share<density, energy>, push, walls<>, squeeze, share<kr::depth<2, energy>>,
                           kr::choose<turn, kr::schedule<transport<0>, share_swept, transport<1>>,
                                      kr::schedule<transport<1>, share_swept, transport<0>>>> {};

/// Mass and energy of what a rank owns.
struct weigh
    : kr::routine<"weigh", kr::on_device,
                  kr::reads<kr::owned<density>, kr::owned<energy>, kr::depth<1, v1>, kr::depth<1, v2>, dx, dy>> {
  using value_type = std::array<double, 2>;
  template <class V>
  static value_type run(V v) {
    auto const d = v(density{}), e = v(energy{}), a = v(v1{}), b = v(v2{});
    auto const x = v(dx{}), y = v(dy{});
    return kr::reduce_owned(
        v, km::plain_sum{}, KOKKOS_LAMBDA(int i, int j) {
          double const squares =
              a(i, j) * a(i, j) + a(i + 1, j) * a(i + 1, j) + b(i, j) * b(i, j) + b(i, j + 1) * b(i, j + 1);
          return value_type{d(i, j) * x(i) * y(j), (e(i, j) + 0.25 * d(i, j) * squares) * x(i) * y(j)};
        });
  }
};
struct totals : kr::reduce<"totals", km::plain_sum, weigh> {};
struct balance : kr::schedule<kr::exchange<kr::depth<1, v1>, kr::depth<1, v2>>, totals> {};

/// Appends what this rank owns of a variable, the second index fastest, and where that lies.
template <class X>
struct collect : kr::routine<"collect", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V>
  static void run(V v, std::vector<piece>* pieces, std::vector<double>* values) {
    auto const x = v(X{});
    auto const own = v.owned(X{});
    auto const first = v.local(X{}).global_begin;
    pieces->push_back(
        {{long(first[0]), long(first[1])}, {long(own.end[0] - own.begin[0]), long(own.end[1] - own.begin[1])}});
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) values->push_back(x(i, j));
  }
};

} // namespace ministag
