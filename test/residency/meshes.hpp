// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Meshes of several kinds, cut over the ranks of an environment; and an application that has variables on them.

#include "run.hpp"

#include <keel/layout/partition.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace test::meshes {

namespace kr = keel::residency;

using devices = keel::where_supported<keel::list<test::host, keel::simulated, keel::cuda, keel::hip>>;
template <class Layout, class Exchange, class Tracking = kr::automatic>
struct app : test::application<devices, Tracking, Layout, keel::machine::mpi> {
  using exchange = Exchange;
};

struct cells : kr::mesh<"cells"> {};
struct edges : kr::mesh<"edges"> {};

/// Cells by number, with their neighbours and owners.
struct graph {
  std::string name;
  std::vector<std::vector<int>> neighbours;
  std::vector<int> owners;
  int layers = 2;
  bool has_own_ghosts = false; ///< every third owned cell is a ghost in the first layer, too

  [[nodiscard]] static std::int64_t id_of(int cell) { return 1'000'003LL * cell - 40; }
  /// What a rank is given.
  [[nodiscard]] kr::element_ids<cells> ids_of(int rank) const {
    kr::element_ids<cells> made;
    std::vector<bool> is_here(owners.size(), false);
    std::vector<int> last;
    for (std::size_t c = 0; c < owners.size(); ++c)
      if (owners[c] == rank) last.push_back(int(c)), is_here[c] = true, made.owned.push_back(id_of(int(c)));
    for (int n = 0; n < layers; ++n) {
      std::vector<int> next;
      for (int const c : last)
        for (int const b : neighbours[std::size_t(c)])
          if (!is_here[std::size_t(b)]) is_here[std::size_t(b)] = true, next.push_back(b);
      std::vector<std::int64_t>& layer = made.ghosts.emplace_back();
      if (has_own_ghosts && n == 0)
        for (std::size_t c = 0; c < made.owned.size(); c += 3) layer.push_back(made.owned[c]);
      for (int const b : next) layer.push_back(id_of(b));
      last = std::move(next);
    }
    return made;
  }
  /// The cells of each edge, by id.
  [[nodiscard]] std::map<std::int64_t, std::array<std::int64_t, 2>> cells_on_edges() const {
    std::map<std::int64_t, std::array<std::int64_t, 2>> made;
    for (int c = 0; c < int(owners.size()); ++c)
      for (int const b : neighbours[std::size_t(c)])
        if (c < b) made[7 * (c * std::int64_t(owners.size()) + b) + 1] = {id_of(c), id_of(b)};
    return made;
  }
};

/// In pieces of almost the same size; two cells are neighbours if their numbers follow on each other.
inline graph ring(int count, int ranks) {
  graph g{"ring", {}, {}};
  for (int c = 0; c < count; ++c) {
    g.neighbours.push_back({(c + 1) % count, (c + count - 1) % count});
    g.owners.push_back(int(std::int64_t(c) * ranks / count));
  }
  return g;
}
/// Hexagons in rows, every other one shifted by half a cell, periodic, cut into blocks of rows and columns.
inline graph hexagons(int nx, int ny, int ranks) {
  graph g{"hexagons", {}, {}};
  int const across = ranks % 2 == 0 ? 2 : 1, along = ranks / across;
  auto const at = [&](int x, int y) { return (y + ny) % ny * nx + (x + nx) % nx; };
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      int const left = y % 2 == 0 ? x - 1 : x;
      g.neighbours.push_back(
          {at(x - 1, y), at(x + 1, y), at(left, y - 1), at(left + 1, y - 1), at(left, y + 1), at(left + 1, y + 1)});
      g.owners.push_back(x * across / nx * along + y * along / ny);
    }
  return g;
}
/// Any neighbours; only the first `owning` ranks own cells.
inline graph random(int count, int owning, unsigned seed) {
  std::mt19937 draw(seed);
  graph g{"random " + std::to_string(seed), std::vector<std::vector<int>>(std::size_t(count)), {}};
  for (int c = 0; c < count; ++c) g.owners.push_back(int(draw() % unsigned(owning)));
  for (int n = 0; n < count; ++n) {
    int const a = int(draw() % unsigned(count)), b = int(draw() % unsigned(count));
    if (a == b) continue;
    g.neighbours[std::size_t(a)].push_back(b), g.neighbours[std::size_t(b)].push_back(a);
  }
  g.layers = 1 + int(seed % 3);
  g.has_own_ghosts = seed % 2 == 0;
  return g;
}

/// The elements of a rank in an order of its own, with ghosts, in one layer, anywhere among the others.
struct scattered {
  std::vector<std::int64_t> ids;
  std::vector<bool> is_ghost;
  scattered(kr::element_ids<cells> const& of, unsigned seed) {
    std::mt19937 draw(seed);
    for (std::int64_t const id : of.owned) ids.push_back(id), is_ghost.push_back(false);
    for (auto const& layer : of.ghosts)
      for (std::int64_t const id : layer) {
        auto const at = std::ptrdiff_t(draw() % unsigned(ids.size() + 1));
        ids.insert(ids.begin() + at, id), is_ghost.insert(is_ghost.begin() + at, true);
      }
  }
  template <kr::Mesh M = cells, class Environment>
  [[nodiscard]] kr::partition<M> on(Environment const& env) const {
    return {env, ids, kr::is_ghost{is_ghost}};
  }
};

/// The cells of a graph and its edges, cut over ranks.
struct two_meshes {
  std::string name;
  std::vector<kr::element_ids<cells>> all; ///< what each rank was given
  kr::partition<cells> c;
  kr::partition<edges> e;
};
template <class Environment>
two_meshes cut(Environment const& env, graph const& g) {
  std::vector<kr::element_ids<cells>> all;
  for (int r = 0; r < env.size(); ++r) all.push_back(g.ids_of(r));
  kr::partition<cells> const c(env, all[std::size_t(env.rank())]);
  return {g.name, std::move(all), c, {env, kr::owned_through<edges>(c, g.cells_on_edges())}};
}
template <class Environment>
std::vector<two_meshes> of_all_kinds(Environment const& env) {
  int const ranks = env.size();
  graph bare = ring(9, ranks);
  bare.name = "without ghosts", bare.layers = 0;
  std::vector<two_meshes> made;
  for (graph const& g : {ring(31, ranks), hexagons(12, 10, ranks), random(60, ranks, 1), random(80, ranks, 2),
                         random(40, (ranks + 1) / 2, 4), random(0, 1, 3), random(1, 1, 5)})
    made.push_back(cut(env, g));
  bare.neighbours.assign(bare.neighbours.size(), {}); // so that there are no edges of cells that are not here
  made.push_back(cut(env, bare));
  return made;
}

} // namespace test::meshes
