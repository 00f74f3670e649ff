// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A mesh cut over ranks, and the lists of its elements by local number.

#include "mesh.hpp"
#include "operators.hpp"

#include <keel/layout/partition.hpp>
#include <keel/layout/rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace trisk {

/// The stencil of a stage reaches two layers of cells.
inline constexpr int layers_of_cells = 2;

inline std::vector<int> neighbours_of(mesh const& m, std::size_t cell) {
  std::vector<int> made;
  for (int j = 0; j < m.degree(int(cell)); ++j) {
    auto const [a, b] = m.cells_on_edge[std::size_t(m.edges_on_cell[cell][std::size_t(j)])];
    made.push_back(a == int(cell) ? b : a);
  }
  return made;
}

/// The cells whose `owners` are this rank, and the layers of their neighbours.
template <class Environment>
kr::element_ids<cells> cells_of(Environment const& env, mesh const& m, std::vector<int> const& owners) {
  std::vector<std::int64_t> owned;
  std::vector<std::vector<int>> near;
  for (std::size_t c = 0; c < owners.size(); ++c)
    if (owners[c] == env.rank()) owned.push_back(std::int64_t(c)), near.push_back(neighbours_of(m, c));
  return kr::grow<cells>(env, owned, near, layers_of_cells);
}

/// Each list beside its number.
template <std::size_t N>
std::vector<std::pair<std::int64_t, std::array<int, N>>> by_id(std::vector<std::array<int, N>> const& lists) {
  std::vector<std::pair<std::int64_t, std::array<int, N>>> made;
  for (auto const& list : lists) made.emplace_back(std::int64_t(made.size()), list);
  return made;
}

struct cut {
  kr::partition<cells> c;
  kr::partition<edges> e;
  kr::partition<vertices> v;

  template <class Environment>
  cut(Environment const& env, mesh const& m, std::vector<int> const& owners)
      : c(env, cells_of(env, m, owners)), e(env, kr::owned_through<edges>(c, by_id(m.cells_on_edge))),
        v(env, kr::owned_through<vertices>(c, by_id(m.cells_on_vertex))) {}
};

/// The rank of each cell: pieces of the numbers, which follow the curve, of almost the same size.
inline std::vector<int> owners_of(mesh const& m, int ranks) {
  std::vector<int> owners(m.cells.size());
  for (std::size_t c = 0; c < owners.size(); ++c) owners[c] = int(c * std::size_t(ranks) / owners.size());
  return owners;
}

/// Fills the mesh's variables. What lies around the outermost ghosts is not all here; no routine asks for it.
struct set_mesh
    : kr::routine<"set_mesh", kr::on_host,
                  kr::writes<kr::everywhere<edges_on_cell>, kr::everywhere<cells_on_edge>,
                             kr::everywhere<vertices_on_edge>, kr::everywhere<edges_on_edge>,
                             kr::everywhere<cells_on_vertex>, kr::everywhere<edges_on_vertex>, kr::everywhere<outflow>,
                             kr::everywhere<area_cell>, kr::everywhere<dc>, kr::everywhere<dv>, kr::everywhere<weights>,
                             kr::everywhere<circulation>, kr::everywhere<kites>, kr::everywhere<area_triangle>>> {
  template <class V>
  static void run(V v, mesh const& m, cut const& here) {
    auto const local = [](auto const& part, std::int64_t id) { return int(part.local_of(id).value_or(0)); };
    auto const all = [](auto const& part, auto const& f) {
      for (std::size_t i = 0; i < part.ids().size(); ++i) f(int(i), std::size_t(part.ids()[i]));
    };
    all(here.c, [&, list = v(edges_on_cell{}), length = v(outflow{}), area = v(area_cell{})](int i, std::size_t id) {
      area(i) = m.area_cell[id];
      for (int j = 0; j < most_edges; ++j) {
        int const e = m.edges_on_cell[id][std::size_t(j)], some = e < 0 ? m.edges_on_cell[id][0] : e;
        list(i, j) = local(here.e, some);
        length(i, j) = e < 0 ? 0 : m.outward(int(id), e) * m.dv[std::size_t(e)];
      }
    });
    all(here.e, [&, c = v(cells_on_edge{}), w = v(vertices_on_edge{}), others = v(edges_on_edge{}),
                 weight = v(weights{}), d = v(dc{}), l = v(dv{})](int i, std::size_t id) {
      d(i) = m.dc[id], l(i) = m.dv[id];
      for (int k = 0; k < 2; ++k) {
        c(i, k) = local(here.c, m.cells_on_edge[id][std::size_t(k)]);
        w(i, k) = local(here.v, m.vertices_on_edge[id][std::size_t(k)]);
      }
      tangential_weights const t = weights_on_edge(m, int(id));
      for (int k = 0; k < int(t.edges.size()); ++k)
        others(i, k) = local(here.e, t.edges[std::size_t(k)]), weight(i, k) = t.weights[std::size_t(k)];
    });
    all(here.v, [&, c = v(cells_on_vertex{}), e = v(edges_on_vertex{}), length = v(circulation{}), kite = v(kites{}),
                 area = v(area_triangle{})](int i, std::size_t id) {
      area(i) = m.area_triangle[id];
      for (int k = 0; k < 3; ++k) {
        int const cell = m.cells_on_vertex[id][std::size_t(k)], edge = m.edges_on_vertex[id][std::size_t(k)];
        c(i, k) = local(here.c, cell), e(i, k) = local(here.e, edge);
        length(i, k) = m.outward(cell, edge) * m.dc[std::size_t(edge)];
        kite(i, k) = m.kites[id][std::size_t(k)];
      }
    });
  }
};

} // namespace trisk
