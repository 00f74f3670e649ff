// SPDX-License-Identifier: MIT
// How the gas begins, and the walls of its box.
#include "physics.hpp"

#include <keel/residency/compiled.hpp>

namespace gas {

template <class V>
void ignite::run(V v) {
  auto const q = v(cells{});
  auto const own = v.owned();
  auto const first = v.global_begin(), all = v.global_extents();
  long const di = first[0] - own.begin[0], dj = first[1] - own.begin[1];
  double const nx = double(all[0]), ny = double(all[1]);
  kr::for_owned(
      v, KOKKOS_LAMBDA(int i, int j) {
        double const x = (double(i + di) + 0.5) / nx - 0.5, y = (double(j + dj) + 0.5) / ny - 0.5;
        double const p = x * x + y * y < 0.01 ? 10 : 0.1;
        set(q, i, j, {{1, 0, 0, p / (gamma - 1)}});
      });
}

template <class V>
void reflect::run(V v) {
  auto const q = v(cells{});
  auto const own = v.owned();
  auto const first = v.global_begin(), all = v.global_extents();
  long const di = first[0] - own.begin[0], dj = first[1] - own.begin[1], nx = all[0], ny = all[1];
  kr::for_each_cell(
      v, v.everywhere(), KOKKOS_LAMBDA(int i, int j) {
        long const x = i + di, y = j + dj; // in the whole grid
        long const mx = x < 0 ? -1 - x : x >= nx ? 2 * nx - 1 - x : x;
        long const my = y < 0 ? -1 - y : y >= ny ? 2 * ny - 1 - y : y;
        if (mx == x && my == y) return;
        state s = state_at(q, int(mx - di), int(my - dj));
        if (mx != x) s.c[1] = -s.c[1];
        if (my != y) s.c[2] = -s.c[2];
        set(q, i, j, s);
      });
}

} // namespace gas

template struct keel::residency::compiled<gas::app, gas::ignite>;
template struct keel::residency::compiled<gas::app, gas::reflect>;
