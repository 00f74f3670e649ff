// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The mesh as variables of keel, and the operators of TRiSK on it.

#include <keel/residency/declare.hpp>

#include <cmath>
#include <utility>

namespace trisk {

namespace kr = keel::residency;

struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};
struct vertices : kr::mesh<"vertices"> {};

/// Local numbers of what lies around an element. A pentagon's last edge is its first, with a length of 0. `set_mesh`
/// makes them, and all of the mesh, on the ranks that there are.
struct edges_on_cell : kr::variable<"edges_on_cell", int**, kr::on_mesh<cells>, kr::without_checkpoint> {};
struct cells_on_edge : kr::variable<"cells_on_edge", int**, kr::on_mesh<edges>, kr::without_checkpoint> {};
struct vertices_on_edge : kr::variable<"vertices_on_edge", int**, kr::on_mesh<edges>, kr::without_checkpoint> {};
struct edges_on_edge : kr::variable<"edges_on_edge", int**, kr::on_mesh<edges>, kr::without_checkpoint> {};
struct cells_on_vertex : kr::variable<"cells_on_vertex", int**, kr::on_mesh<vertices>, kr::without_checkpoint> {};
struct edges_on_vertex : kr::variable<"edges_on_vertex", int**, kr::on_mesh<vertices>, kr::without_checkpoint> {};
/// Lengths of edges, negative if their normals point inwards; in m, areas in m2.
struct outflow : kr::variable<"outflow", double**, kr::on_mesh<cells>, kr::without_checkpoint> {};
struct area_cell : kr::variable<"area_cell", double*, kr::on_mesh<cells>, kr::without_checkpoint> {};
struct dc : kr::variable<"dc", double*, kr::on_mesh<edges>, kr::without_checkpoint> {};
struct dv : kr::variable<"dv", double*, kr::on_mesh<edges>, kr::without_checkpoint> {};
struct weights : kr::variable<"weights", double**, kr::on_mesh<edges>, kr::without_checkpoint> {};
/// Distances of cells, negative if the normal of their edge points clockwise.
struct circulation : kr::variable<"circulation", double**, kr::on_mesh<vertices>, kr::without_checkpoint> {};
struct kites : kr::variable<"kites", double**, kr::on_mesh<vertices>, kr::without_checkpoint> {};
struct area_triangle : kr::variable<"area_triangle", double*, kr::on_mesh<vertices>, kr::without_checkpoint> {};

/// The clause of a routine that takes `operators`.
struct reads_mesh : kr::reads<edges_on_cell, cells_on_edge, vertices_on_edge, edges_on_edge, cells_on_vertex,
                              edges_on_vertex, outflow, area_cell, dc, dv, weights, circulation, kites, area_triangle> {
};

/// What is computed out of fields on cells `s`, on edges `u`, on vertices `q`, for one element. J. Thuburn et al. (2009),
/// T. Ringler et al. (2010).
template <class V>
class operators {
  template <class X>
  using view = decltype(std::declval<V const&>()(X{}));

public:
  explicit operators(V const& v)
      : edges_c(v(edges_on_cell{})), cells_e(v(cells_on_edge{})), vertices_e(v(vertices_on_edge{})),
        edges_e(v(edges_on_edge{})), cells_v(v(cells_on_vertex{})), edges_v(v(edges_on_vertex{})),
        outflow_c(v(outflow{})), area_c(v(area_cell{})), dc_e(v(dc{})), dv_e(v(dv{})), weights_e(v(weights{})),
        circulation_v(v(circulation{})), kites_v(v(kites{})), area_v(v(area_triangle{})) {}

  template <class U>
  [[nodiscard]] KEEL_FUNCTION double divergence(int c, U const& u) const {
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += outflow_c(c, j) * u(edges_c(c, j));
    return sum / area_c(c);
  }
  template <class U>
  [[nodiscard]] KEEL_FUNCTION double kinetic_energy(int c, U const& u) const {
    double sum = 0;
    for (int j = 0; j < 6; ++j) {
      int const e = edges_c(c, j);
      sum += std::abs(outflow_c(c, j)) * dc_e(e) * u(e) * u(e);
    }
    return sum / (4 * area_c(c));
  }
  template <class S>
  [[nodiscard]] KEEL_FUNCTION double gradient(int e, S const& s) const {
    return (s(cells_e(e, 1)) - s(cells_e(e, 0))) / dc_e(e);
  }
  template <class S>
  [[nodiscard]] KEEL_FUNCTION double at_edge(int e, S const& s) const {
    return 0.5 * (s(cells_e(e, 0)) + s(cells_e(e, 1)));
  }
  /// The mean at an edge, by the areas of the cells around both vertices.
  template <class S>
  [[nodiscard]] KEEL_FUNCTION double at_edge_by_area(int e, S const& s) const {
    double sum = 0, area = 0;
    for (int k = 0; k < 2; ++k) {
      int const v = vertices_e(e, k);
      sum += area_v(v) * at_vertex(v, s), area += area_v(v);
    }
    return sum / area;
  }
  template <class Q>
  [[nodiscard]] KEEL_FUNCTION double from_vertices(int e, Q const& q) const {
    return 0.5 * (q(vertices_e(e, 0)) + q(vertices_e(e, 1)));
  }
  template <class U>
  [[nodiscard]] KEEL_FUNCTION double tangential(int e, U const& u) const {
    double sum = 0;
    for (int k = 0; k < 10; ++k) sum += weights_e(e, k) * u(edges_e(e, k));
    return sum;
  }
  /// The tangential flux of potential vorticity, such that it does no work.
  template <class U, class Q>
  [[nodiscard]] KEEL_FUNCTION double vorticity_flux(int e, U const& flux, Q const& q) const {
    double sum = 0;
    for (int k = 0; k < 10; ++k) {
      int const other = edges_e(e, k);
      sum += weights_e(e, k) * flux(other) * (0.5 * (q(e) + q(other)));
    }
    return sum;
  }
  template <class S, class Q>
  [[nodiscard]] KEEL_FUNCTION double laplacian(int e, S const& divergence, Q const& vorticity) const {
    return gradient(e, divergence) - (vorticity(vertices_e(e, 1)) - vorticity(vertices_e(e, 0))) / dv_e(e);
  }
  template <class U>
  [[nodiscard]] KEEL_FUNCTION double curl(int v, U const& u) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += circulation_v(v, k) * u(edges_v(v, k));
    return sum / area_v(v);
  }
  template <class S>
  [[nodiscard]] KEEL_FUNCTION double at_vertex(int v, S const& s) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += kites_v(v, k) * s(cells_v(v, k));
    return sum / area_v(v);
  }

private:
  view<edges_on_cell> edges_c;
  view<cells_on_edge> cells_e;
  view<vertices_on_edge> vertices_e;
  view<edges_on_edge> edges_e;
  view<cells_on_vertex> cells_v;
  view<edges_on_vertex> edges_v;
  view<outflow> outflow_c;
  view<area_cell> area_c;
  view<dc> dc_e;
  view<dv> dv_e;
  view<weights> weights_e;
  view<circulation> circulation_v;
  view<kites> kites_v;
  view<area_triangle> area_v;
};

/// The owned elements and the layers of ghosts that a part names: `through(v, kr::layer<q, 2>{})`.
template <class V, class X>
[[nodiscard]] kr::element_range through(V const& v, X part) {
  return {0, v.everywhere(part).end[0]};
}

} // namespace trisk
