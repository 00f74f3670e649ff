// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The operators on functions whose derivatives are known, on a periodic plane: those that OMEGA tests its own with.

#include "cut.hpp"
#include "model.hpp"

#include <keel/machine/exact.hpp>
#include <keel/machine/reductions.hpp>

#include <algorithm>
#include <cmath>

namespace trisk {

/// How far numbers are from what they ought to be, relative: the largest, and the root of the mean square by area.
struct deviation {
  double largest = 0, square = 0;
};

/// What the elements of the three meshes have in common: their partition, and areas.
inline auto const& part_of(cut const& here, cells) { return here.c; }
inline auto const& part_of(cut const& here, edges) { return here.e; }
inline auto const& part_of(cut const& here, vertices) { return here.v; }
inline double area_of(mesh const& m, cells, std::size_t i) { return m.area_cell[i]; }
inline double area_of(mesh const& m, edges, std::size_t i) { return m.dc[i] * m.dv[i] / 2; }
inline double area_of(mesh const& m, vertices, std::size_t i) { return m.area_triangle[i]; }

/// Calls `f` with the number of each owned element and gives what it returns to the variable.
template <class X, class Mesh>
struct fill : kr::routine<"fill", kr::on_host, kr::writes<X>> {
  template <class V, class F>
  static void run(V v, cut const& here, F const& f) {
    auto const x = v(X{});
    auto const& part = part_of(here, Mesh{});
    for (std::int64_t i = 0; i < part.owned().end; ++i) x(i) = f(std::size_t(part.ids()[std::size_t(i)]));
  }
};

/// What one rank has to say of the deviation.
struct deviation_part {
  double largest = 0, scale = 0;
  keel::machine::exact_sum square, scale_square;
};
template <class X, class Mesh>
struct compare : kr::routine<"compare", kr::on_host, kr::reads<kr::owned<X>>> {
  template <class V, class F>
  static deviation_part run(V v, mesh const& m, cut const& here, F const& wanted) {
    deviation_part made;
    auto const x = v(X{});
    auto const& part = part_of(here, Mesh{});
    for (std::int64_t i = 0; i < part.owned().end; ++i) {
      auto const id = std::size_t(part.ids()[std::size_t(i)]);
      double const y = wanted(id), off = std::abs(x(i) - y), area = area_of(m, Mesh{}, id);
      if (!(off <= made.largest)) made.largest = off; // what is not a number stays so
      made.scale = std::max(made.scale, std::abs(y));
      made.square += area * off * off, made.scale_square += area * y * y;
    }
    return made;
  }
};
/// The deviation of a variable over all ranks; its bits do not depend on their number.
template <class X, class Mesh, class Fields, class Environment, class F>
deviation deviation_of(Fields& f, Environment const& env, mesh const& m, cut const& here, F const& wanted) {
  namespace km = keel::machine;
  deviation_part const mine = f.run(compare<X, Mesh>{}, m, here, wanted);
  return {km::max(env, mine.largest) / km::max(env, mine.scale),
          std::sqrt(km::sum(env, mine.square, km::ordered) / km::sum(env, mine.scale_square, km::ordered))};
}

struct divergence : kr::variable<"divergence", double*, kr::on_mesh<cells>> {};
struct vorticity : kr::variable<"vorticity", double*, kr::on_mesh<vertices>> {};
struct laplacian : kr::variable<"laplacian", double*, kr::on_mesh<edges>> {};

/// Divergence and vorticity of `X` on owned elements and `Layers` of ghosts.
template <class X, int Layers>
struct derivatives : kr::routine<"derivatives", kr::on_device, reads_mesh, kr::reads<kr::layer<X, Layers + 1>>,
                                 kr::writes<kr::layer<divergence, Layers>, kr::layer<vorticity, Layers>>> {
  template <class V>
  static void run(V v) {
    operators const on(v);
    auto const x = v(X{});
    auto const d = v(divergence{}), z = v(vorticity{});
    kr::for_each_element(
        v, through(v, kr::layer<divergence, Layers>{}), KOKKOS_LAMBDA(int i) { d(i) = on.divergence(i, x); });
    kr::for_each_element(v, through(v, kr::layer<vorticity, Layers>{}), KOKKOS_LAMBDA(int i) { z(i) = on.curl(i, x); });
  }
};
struct laplacians
    : kr::routine<"laplacians", kr::on_device, reads_mesh, kr::reads<kr::layer<divergence, 2>, kr::layer<vorticity, 2>>,
                  kr::writes<kr::layer<laplacian, 2>>> {
  template <class V>
  static void run(V v) {
    operators const on(v);
    auto const d = v(divergence{});
    auto const z = v(vorticity{});
    auto const to = v(laplacian{});
    kr::for_each_element(
        v, through(v, kr::layer<laplacian, 2>{}), KOKKOS_LAMBDA(int i) { to(i) = on.laplacian(i, d, z); });
  }
};

enum class op { gradient, mean, mean_by_area, tangential, kinetic_energy, vorticity_flux };

/// An operator by itself, of one input or two.
template <op Which, class To, class A, class B = A>
struct apply : kr::routine<"apply", kr::on_device, reads_mesh, kr::reads<A, B>, kr::writes<To>> {
  template <class V>
  static void run(V v) {
    operators const on(v);
    auto const to = v(To{});
    auto const a = v(A{});
    auto const b = v(B{});
    kr::for_each_element(v, {0, v.owned(To{}).end[0]}, KOKKOS_LAMBDA(int i) { to(i) = at(on, i, a, b); });
  }
  template <class On, class X, class Y>
  static KEEL_FUNCTION double at(On const& on, int i, X const& a, [[maybe_unused]] Y const& b) {
    if constexpr (Which == op::gradient) return on.gradient(i, a);
    else if constexpr (Which == op::mean) return on.at_edge(i, a);
    else if constexpr (Which == op::mean_by_area) return on.at_edge_by_area(i, a);
    else if constexpr (Which == op::tangential) return on.tangential(i, a);
    else if constexpr (Which == op::kinetic_energy) return on.kinetic_energy(i, a);
    else return on.vorticity_flux(i, a, b);
  }
};

/// Runs each operator on the functions and calls `row(name, deviation)`. `f` has the variables of the model.
template <class Fields, class Environment, class Row>
void try_operators(Fields& f, Environment const& env, mesh const& m, cut const& here, Row const& row) {
  double const kx = 2 * pi / m.on.x_period, ky = 2 * pi / m.on.y_period, kk = kx * kx + ky * ky;
  auto const sin_sin = [=](point p) { return std::sin(kx * p.x) * std::sin(ky * p.y); };
  auto const sin_cos = [=](point p) { return std::sin(kx * p.x) * std::cos(ky * p.y); };
  auto const cos_sin = [=](point p) { return std::cos(kx * p.x) * std::sin(ky * p.y); };
  auto const cos_cos = [=](point p) { return std::cos(kx * p.x) * std::cos(ky * p.y); };
  auto const velocity = [=](point p) { return point{sin_cos(p), cos_sin(p)}; };
  auto const div = [=](point p) { return (kx + ky) * cos_cos(p); };
  auto const rot = [=](point p) { return (ky - kx) * sin_sin(p); };

  // By number of the element, and what is set or wanted there.
  auto const on_cell = [&](auto g) { return [&m, g](std::size_t i) { return double(g(m.cells[i])); }; };
  auto const on_edge = [&](auto g) { return [&m, g](std::size_t i) { return double(g(m.edges[i])); }; };
  auto const on_vertex = [&](auto g) { return [&m, g](std::size_t i) { return double(g(m.vertices[i])); }; };
  auto const along_normal = [&](auto g) {
    return [&m, g](std::size_t i) { return dot(g(m.edges[i]), m.normal(int(i))); };
  };
  auto const along_edge = [&](auto g) {
    return [&m, g](std::size_t i) { return dot(g(m.edges[i]), m.tangent(int(i))); };
  };
  auto const check = [&]<class X, class Mesh>(char const* name, X, Mesh, auto const& wanted) {
    row(name, deviation_of<X, Mesh>(f, env, m, here, wanted));
  };

  f.run(fill<u, edges>{}, here, along_normal(velocity));
  f.run(kr::exchange<u>{});
  f.run(derivatives<u, 2>{});
  check("divergence", divergence{}, cells{}, on_cell(div));
  check("curl", vorticity{}, vertices{}, on_vertex(rot));
  f.run(apply<op::tangential, laplacian, u>{});
  check("tangential", laplacian{}, edges{}, along_edge(velocity));
  f.run(apply<op::kinetic_energy, bernoulli, u>{});
  check("kinetic energy", bernoulli{}, cells{}, on_cell([=](point p) { return 0.5 * dot(velocity(p), velocity(p)); }));

  f.run(fill<h, cells>{}, here, on_cell(sin_sin));
  f.run(kr::exchange<h>{});
  f.run(apply<op::gradient, laplacian, h>{});
  check("gradient", laplacian{}, edges{},
        along_normal([=](point p) { return point{kx * cos_sin(p), ky * sin_cos(p)}; }));
  f.run(apply<op::mean, laplacian, h>{});
  check("cells to edge", laplacian{}, edges{}, on_edge(sin_sin));
  f.run(apply<op::mean_by_area, laplacian, h>{});
  check("cells to edge, by area", laplacian{}, edges{}, on_edge(sin_sin));

  auto const thickness = [=](point p) { return 2 + sin_cos(p); };
  auto const absolute = [=](point p) { return rot(p) + cos_cos(p); };
  f.run(fill<flux, edges>{}, here, along_normal([=](point p) { return thickness(p) * velocity(p); }));
  f.run(fill<q_edge, edges>{}, here, on_edge([=](point p) { return absolute(p) / thickness(p); }));
  f.run(kr::exchange<flux, q_edge>{});
  f.run(apply<op::vorticity_flux, laplacian, flux, q_edge>{});
  check("potential vorticity flux", laplacian{}, edges{},
        along_edge([=](point p) { return absolute(p) * velocity(p); }));

  f.run(fill<divergence, cells>{}, here, on_cell(div));
  f.run(fill<vorticity, vertices>{}, here, on_vertex(rot));
  f.run(kr::exchange<divergence, vorticity>{});
  f.run(laplacians{});
  check("Laplacian", laplacian{}, edges{}, along_normal([=](point p) { return -kk * velocity(p); }));
  f.run(derivatives<laplacian, 1>{});
  check("its divergence", divergence{}, cells{}, on_cell([=](point p) { return -kk * div(p); }));
  check("its curl", vorticity{}, vertices{}, on_vertex([=](point p) { return -kk * rot(p); }));

  auto const depth = [=](point p) { return 2 + cos_cos(p); };
  f.run(fill<h, cells>{}, here, on_cell(depth));
  for (bool const is_planetary : {false, true}) {
    auto const spin = [=](point p) { return is_planetary ? sin_sin(p) : 0; };
    auto const wanted = [=](point p) { return (is_planetary ? sin_sin(p) : rot(p)) / depth(p); };
    f.run(fill<coriolis, vertices>{}, here, on_vertex(spin));
    if (is_planetary) f.run(fill<u, edges>{}, here, [](std::size_t) { return 0.; });
    f.run(kr::exchange<h, u, coriolis>{});
    f.run(vorticities<h, u>{});
    check(is_planetary ? "planetary vorticity" : "relative vorticity", q{}, vertices{}, on_vertex(wanted));
    f.run(fluxes<h, u>{});
    check("on edges", q_edge{}, edges{}, on_edge(wanted));
  }
}

} // namespace trisk
