// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// ocean without keel's fields: arrays of Kokkos, levels swapped and ghosts filled by hand. What keel is measured against.

#include "../by_hand.hpp"
#include "model.hpp"

#include <keel/layout/grid.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace ocean {

/// A rank's part of the grid.
inline place place_of(kr::share const& s) {
  auto const own = s.owned();
  return {int(s.global_begin[0]), int(s.global_begin[1]), int(own.end[0] - own.begin[0]),
          int(own.end[1] - own.begin[1])};
}

/// The three variables at one time, with a row of ghosts all round.
template <class Memory>
struct level {
  Kokkos::View<double**, layout, Memory> eta;
  Kokkos::View<double***, layout, Memory> u, v;

  level(place const& p, int layers)
      : eta("eta", std::size_t(p.ni + 2), std::size_t(p.nj + 2)),
        u("u", std::size_t(p.ni + 2), std::size_t(p.nj + 2), std::size_t(layers)),
        v("v", std::size_t(p.ni + 2), std::size_t(p.nj + 2), std::size_t(layers)) {}
};
template <class To, class From>
void copy(level<To> const& to, level<From> const& from) {
  Kokkos::deep_copy(to.eta, from.eta);
  Kokkos::deep_copy(to.u, from.u);
  Kokkos::deep_copy(to.v, from.v);
}

/// What an element of eta, u or v (0, 1, 2) of a rank's level is called by those who fill ghosts.
inline int number_in(place const& p, int layers, int variable, int i, int j, int k) {
  int const ni = p.ni + 2, nj = p.nj + 2, count = variable == 0 ? 1 : layers;
  bool const is_left = std::is_same_v<layout, Kokkos::LayoutLeft>;
  return (is_left ? i + ni * (j + nj * k) : (i * nj + j) * count + k) * 3 + variable;
}

template <class Space>
class by_hand {
  using host_level = level<Kokkos::HostSpace>;

public:
  by_hand(Space const& space, keel::machine::environment const& env, kr::grid const& grid, experiment const& what)
      : space_(space), env_(env), what_(what), share_(kr::share_of(grid, env.size(), env.rank())),
        here_(place_of(share_)), ghosts_(space, env, ghosts_of(env, grid, what)), before_(start(-what.equations().dt)),
        now_(start(0)), next_(here_, what.equations().layers) {
    fill(now_);
  }

  void step() {
    part const all{
        1, here_.ni + 1, 1, here_.nj + 1, share_.is_wall(1, kr::side::low), share_.is_wall(1, kr::side::high)};
    advance_all("advance", space_, all, what_.equations(), what_.mixing_strength(), before_.eta, before_.u, before_.v,
                now_.eta, now_.u, now_.v, next_.eta, next_.u, next_.v);
    fill(next_);
    std::swap(before_, now_);
    std::swap(now_, next_);
  }
  /// The current level on the host.
  [[nodiscard]] host_level on_host() const {
    host_level made(here_, what_.equations().layers);
    copy(made, now_);
    return made;
  }

private:
  using held = level<typename Space::memory_space>;

  void fill(held const& l) const { ghosts_.fill(env_, {l.eta.data(), l.u.data(), l.v.data()}); }

  [[nodiscard]] held start(double time) const {
    int const layers = what_.equations().layers;
    host_level from(here_, layers);
    for (int i = 0; i < here_.ni; ++i)
      for (int j = 0; j < here_.nj; ++j) {
        from.eta(i + 1, j + 1) = what_.eta(here_.i + i, here_.j + j, time);
        for (int k = 0; k < layers; ++k) {
          from.u(i + 1, j + 1, k) = what_.u(here_.i + i, here_.j + j, k, time);
          from.v(i + 1, j + 1, k) = what_.v(here_.i + i, here_.j + j, k, time);
        }
      }
    held to(here_, layers);
    copy(to, from);
    return to;
  }

  /// Each ghost, corners included, with the rank that owns its cell; there is none beyond a wall.
  static std::vector<bench::ghost> ghosts_of(keel::machine::environment const& env, kr::grid const& grid,
                                             experiment const& what) {
    std::vector<place> places;
    for (int r = 0; r < env.size(); ++r) places.push_back(place_of(kr::share_of(grid, env.size(), r)));
    place const& mine = places[std::size_t(env.rank())];
    std::vector<bench::ghost> all;
    auto const add = [&](int i, int j) {
      long const x = (mine.i + i - 1 + what.nx()) % what.nx(), y = (mine.j + j - 1 + what.ny()) % what.ny();
      if (what.closed_in_y() && y != mine.j + j - 1) return;
      auto const owner = std::ranges::find_if(
          places, [&](place const& p) { return x >= p.i && x < p.i + p.ni && y >= p.j && y < p.j + p.nj; });
      int const layers = what.equations().layers;
      for (int variable = 0; variable < 3; ++variable)
        for (int k = 0; k < (variable == 0 ? 1 : layers); ++k)
          all.push_back({number_in(mine, layers, variable, i, j, k), int(owner - places.begin()),
                         number_in(*owner, layers, variable, int(x) - owner->i + 1, int(y) - owner->j + 1, k)});
    };
    for (int i = 0; i < mine.ni + 2; ++i)
      for (int j = 0; j < mine.nj + 2; j += i == 0 || i == mine.ni + 1 ? 1 : mine.nj + 1) add(i, j);
    return all;
  }

  Space space_;
  keel::machine::environment const& env_;
  experiment const& what_;
  kr::share share_;
  place here_;
  bench::ghosts_by_hand<Space, 3> ghosts_;
  held before_, now_, next_;
};

/// Whether what a rank owns has the bits of a level of another program.
struct is_same : kr::routine<"is_same", kr::on_host, kr::reads<kr::owned<eta>, kr::owned<u>, kr::owned<v>>> {
  template <class V>
  static bool run(V view, level<Kokkos::HostSpace> const& other) {
    auto const own = view.owned();
    auto const e = view(eta{});
    auto const x = view(u{}), y = view(v{});
    bool same = true;
    auto const compare = [&](double one, double two) {
      same = same && std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(two);
    };
    for (int i = 1; i + 1 < int(other.eta.extent(0)); ++i)
      for (int j = 1; j + 1 < int(other.eta.extent(1)); ++j) {
        auto const at_i = own.begin[0] + i - 1, at_j = own.begin[1] + j - 1;
        compare(e(at_i, at_j), other.eta(i, j));
        for (int k = 0; k < int(other.u.extent(2)); ++k) {
          compare(x(at_i, at_j, k), other.u(i, j, k));
          compare(y(at_i, at_j, k), other.v(i, j, k));
        }
      }
    return same;
  }
};

} // namespace ocean
