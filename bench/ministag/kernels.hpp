// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The kernels of ministag, the same for keel and by hand: ZEUS-2D's scheme for an ideal gas on a staggered grid.
/// J. M. Stone and M. L. Norman, ZEUS-2D: a radiation magnetohydrodynamics code for astrophysical flows in two space
/// dimensions, I, Astrophysical Journal Supplement 80 (1992), sections 4.1 to 4.4.
///
/// Density and internal energy (per volume) lie in the middle of cell (i, j), each velocity on the lower face normal to
/// it. `loop(box, f)` calls f(i, j) for the elements of a box. The bits depend neither on the loop nor on how the grid
/// is cut.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <type_traits>

namespace ministag {

inline constexpr double gamma = 1.4;   ///< ratio of specific heats
inline constexpr double spreading = 4; ///< of a shock, in cells: C2 of the artificial viscosity
inline constexpr double courant = 0.3; ///< of the fastest wave through a cell
inline constexpr int most_ghosts = 3;  ///< layers that a sweep needs of the density

using layout = Kokkos::DefaultExecutionSpace::array_layout;
inline constexpr auto order =
    std::is_same_v<layout, Kokkos::LayoutLeft> ? Kokkos::Iterate::Left : Kokkos::Iterate::Right;
template <class Space>
using rectangle = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2, order, order>>;

struct box {
  int begin[2], end[2];

  [[nodiscard]] box grown(int low, int high) const {
    return {{begin[0] - low, begin[1] - low}, {end[0] + high, end[1] + high}};
  }
};

/// Where a piece of the grid ends: at another piece, at a wall that the gas cannot pass, or at an open end.
enum class end { neighbour, closed, open };

/// The cells of a piece of the grid, in indices of its views.
struct patch {
  box cells;
  end ends[2][2]; ///< by direction, low and high

  /// The faces normal to direction `d` that the gas moves through: those on walls are left out. With so many layers of
  /// ghosts that come from neighbours. A lower piece owns the faces that two share.
  [[nodiscard]] box faces(int d, int layers = 0) const {
    box b = cells;
    for (int k = 0; k < 2; ++k) {
      end const low = ends[k][0], high = ends[k][1];
      if (k == d && low != end::open) ++b.begin[k];
      if (k == d && high != end::closed) ++b.end[k];
      if (low == end::neighbour) b.begin[k] -= layers;
      if (high == end::neighbour) b.end[k] += layers;
    }
    return b;
  }
};

/// The length of a step: a number, or a view without dimensions of one that a device finds.
KOKKOS_FORCEINLINE_FUNCTION double number(double x) { return x; }
template <class View>
  requires Kokkos::is_view<View>::value
KOKKOS_FORCEINLINE_FUNCTION double number(View const& x) {
  return x();
}

/// The element that lies `n` steps up in direction D.
template <int D, class View>
KOKKOS_FORCEINLINE_FUNCTION auto& at(View const& x, int i, int j, int n) {
  return x(i + (D == 0 ? n : 0), j + (D == 1 ? n : 0));
}
/// The mass, per area, between the middles of the cells that meet at a face normal to D; `size` are lengths of cells.
template <int D, class View, class Axis>
KOKKOS_FORCEINLINE_FUNCTION double mass_at(View const& density, Axis const& size, int i, int j) {
  int const k = D == 0 ? i : j;
  return 0.5 * (at<D>(density, i, j, -1) * size(k - 1) + density(i, j) * size(k));
}
/// What lies upwind of a place between x(-1) and x(0), interpolated by van Leer's monotone slope to the middle of what
/// passes there; `moved` is how far that moves. Neighbours are gap(n) from the one before, and size(n) long.
template <class X, class Gap, class Size>
KOKKOS_FORCEINLINE_FUNCTION double upwind(double moved, X const& x, Gap const& gap, Size const& size) {
  double const up = moved > 0 ? 1 : 0, down = 1 - up; // without branches, so that a compiler may make vectors of it
  auto const pick = [&](double low, double high) { return up * low + down * high; };
  double const low = x(-1), high = x(0), here = pick(low, high), next = pick(high, low);
  double const behind = (here - pick(x(-2), x(1))) / pick(gap(-1), gap(1)), ahead = (next - here) / gap(0);
  double const room = pick(size(-1), size(0)) - std::abs(moved), p = std::abs(behind), q = std::abs(ahead);
  return here + 0.5 * room * (behind * q + p * ahead) / (p + q + 1e-300); // the slope is 2 a b / (a + b), or 0
}

/// The pressure pushes the faces normal to D.
template <int D, class Loop, class Step, class In, class Axis, class Out>
void accelerate(Loop const& loop, box const& faces, Step const& dt, In const& density, In const& energy,
                Axis const& size, Out const& v) {
  loop(
      faces, KOKKOS_LAMBDA(int i, int j) {
        v(i, j) -=
            number(dt) * (gamma - 1) * (energy(i, j) - at<D>(energy, i, j, -1)) / mass_at<D>(density, size, i, j);
      });
}

/// Von Neumann and Richtmyer's artificial viscosity where cells are compressed.
template <class Loop, class In, class View, class Out>
void stress(Loop const& loop, box const& cells, In const& density, View const& v1, View const& v2, Out const& q1,
            Out const& q2) {
  loop(
      cells, KOKKOS_LAMBDA(int i, int j) {
        double const a = v1(i + 1, j) - v1(i, j), b = v2(i, j + 1) - v2(i, j);
        double const in_x = a < 0 ? a : 0, in_y = b < 0 ? b : 0;
        q1(i, j) = spreading * density(i, j) * in_x * in_x;
        q2(i, j) = spreading * density(i, j) * in_y * in_y;
      });
}
/// It slows the faces normal to D.
template <int D, class Loop, class Step, class In, class Stress, class Axis, class Out>
void brake(Loop const& loop, box const& faces, Step const& dt, In const& density, Stress const& q, Axis const& size,
           Out const& v) {
  loop(
      faces, KOKKOS_LAMBDA(int i, int j) {
        v(i, j) -= number(dt) * (q(i, j) - at<D>(q, i, j, -1)) / mass_at<D>(density, size, i, j);
      });
}
/// It heats.
template <class Loop, class Step, class In, class Stress, class Axis, class Out>
void rub(Loop const& loop, box const& cells, Step const& dt, In const& v1, In const& v2, Stress const& q1,
         Stress const& q2, Axis const& dx, Axis const& dy, Out const& energy) {
  loop(
      cells, KOKKOS_LAMBDA(int i, int j) {
        energy(i, j) -=
            number(dt) * (q1(i, j) * (v1(i + 1, j) - v1(i, j)) / dx(i) + q2(i, j) * (v2(i, j + 1) - v2(i, j)) / dy(j));
      });
}
/// Compression heats, by half at the old and by half at the new energy.
template <class Loop, class Step, class In, class Axis, class Out>
void compress(Loop const& loop, box const& cells, Step const& dt, In const& v1, In const& v2, Axis const& dx,
              Axis const& dy, Out const& energy) {
  loop(
      cells, KOKKOS_LAMBDA(int i, int j) {
        double const divergence = (v1(i + 1, j) - v1(i, j)) / dx(i) + (v2(i, j + 1) - v2(i, j)) / dy(j);
        double const by_half = 0.5 * number(dt) * (gamma - 1) * divergence;
        energy(i, j) *= (1 - by_half) / (1 + by_half);
      });
}

/// Transport in direction D, 0 or 1: energy and momentum move with the mass. `mass` is what crosses the lower face of a
/// cell; `heat` its energy; `along` and `across` the momenta in and across the direction, through the middle of the cell
/// and through its lower corner.
template <int D, class Loop, class Step, class View, class Axis, class Flux>
void sweep(Loop const& loop, patch const& p, Step const& dt, View const& density, View const& energy, View const& v,
           View const& w, Axis const& size, Axis const& other, Flux const& mass, Flux const& heat, Flux const& along,
           Flux const& across) {
  constexpr int di = D == 0, dj = D == 1;
  box crossed = p.cells.grown(1, 1);
  crossed.begin[D] += 1, crossed.end[D] += 1;
  loop(
      crossed, KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j;
        double const moved = number(dt) * v(i, j);
        mass(i, j) = moved * upwind(
                                 moved, [&](int n) { return at<D>(density, i, j, n); },
                                 [&](int n) { return 0.5 * (size(k + n - 1) + size(k + n)); },
                                 [&](int n) { return size(k + n); });
      });
  box const moving = p.cells.grown(0, 1);
  loop(
      moving, KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j;
        heat(i, j) = mass(i, j) * upwind(
                                      number(dt) * v(i, j),
                                      [&](int n) { return at<D>(energy, i, j, n) / at<D>(density, i, j, n); },
                                      [&](int n) { return 0.5 * (size(k + n - 1) + size(k + n)); },
                                      [&](int n) { return size(k + n); });
      });
  loop(
      moving, KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j;
        along(i, j) =
            0.5 * (mass(i, j) + at<D>(mass, i, j, 1)) *
            upwind(
                0.5 * number(dt) * (v(i, j) + at<D>(v, i, j, 1)), [&](int n) { return at<D>(v, i, j, n + 1); },
                [&](int n) { return size(k + n); }, [&](int n) { return 0.5 * (size(k + n) + size(k + n + 1)); });
      });
  loop(
      moving, KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j, l = D == 0 ? j : i;
        across(i, j) =
            0.5 * (at<1 - D>(mass, i, j, -1) * other(l - 1) + mass(i, j) * other(l)) *
            upwind(
                0.5 * number(dt) * (at<1 - D>(v, i, j, -1) + v(i, j)), [&](int n) { return at<D>(w, i, j, n); },
                [&](int n) { return 0.5 * (size(k + n - 1) + size(k + n)); }, [&](int n) { return size(k + n); });
      });
  loop(
      p.faces(D), KOKKOS_LAMBDA(int i, int j) {
        double const before = mass_at<D>(density, size, i, j);
        double const after = before + 0.5 * (at<D>(mass, i, j, -1) - at<D>(mass, i, j, 1));
        v(i, j) = (v(i, j) * before + at<D>(along, i, j, -1) - along(i, j)) / after;
      });
  loop(
      p.faces(1 - D), KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j, l = D == 0 ? j : i;
        double const before = mass_at<1 - D>(density, other, i, j);
        double const more = 0.5 * (other(l - 1) * (mass(i - dj, j - di) - mass(i - dj + di, j - di + dj)) +
                                   other(l) * (mass(i, j) - at<D>(mass, i, j, 1)));
        double const moved = across(i, j) - at<D>(across, i, j, 1);
        w(i, j) = (w(i, j) * before + moved / size(k)) / (before + more / size(k));
      });
  loop(
      p.cells, KOKKOS_LAMBDA(int i, int j) {
        int const k = D == 0 ? i : j;
        density(i, j) += (mass(i, j) - at<D>(mass, i, j, 1)) / size(k);
        energy(i, j) += (heat(i, j) - at<D>(heat, i, j, 1)) / size(k);
      });
}

/// The square of how many cells of its size the fastest wave passes in a unit of time.
template <class In, class Axis>
KOKKOS_FORCEINLINE_FUNCTION double squared_rate(In const& density, In const& energy, In const& v1, In const& v2,
                                                Axis const& dx, Axis const& dy, int i, int j) {
  double const sound = std::sqrt(gamma * (gamma - 1) * energy(i, j) / density(i, j));
  double const v = v1(i + 1, j), w = v2(i, j + 1);
  double const a = (sound + (v < 0 ? -v : v)) / dx(i), b = (sound + (w < 0 ? -w : w)) / dy(j);
  return a * a + b * b;
}
/// The longest step that is stable at that rate, of so much time that is left.
KOKKOS_FORCEINLINE_FUNCTION double longest_step(double squared, double left) {
  double const longest = courant / std::sqrt(squared);
  return left < longest ? left : longest;
}

} // namespace ministag
