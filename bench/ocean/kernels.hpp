// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The kernel of ocean: one leapfrog step of a linear, rotating, layered shallow-water model on an Arakawa C-grid.
/// Rests on Kokkos and on keel::block, so that what is by hand runs the same code.
///
/// eta lives in the middle of cell (i, j), u on its west face, v on its south face; the layer is the last index. A
/// processor has the layers of a column contiguous and takes a few columns at once, a GPU has neighbouring columns side
/// by side and a thread for each. The arithmetic of a column is the same, so the bits depend neither on that nor on how
/// the grid is divided (compile with -ffp-contract=off).

#include <Kokkos_Core.hpp>

#include <keel/space/blocked.hpp>

#include <cstddef>
#include <string>
#include <type_traits>

namespace ocean {

/// How arrays lie: as the space that Kokkos was built for would have them, so contiguous in the
/// layers on a processor, and in the first index on an accelerator.
using layout = Kokkos::DefaultExecutionSpace::array_layout;

/// Rows are whole cache lines of a GPU.
inline constexpr int row_padding = std::is_same_v<layout, Kokkos::LayoutLeft> ? 16 : 1;

/// How far apart two layers of a column lie in an array; a constant where they are neighbours.
struct neighbours {
  KOKKOS_INLINE_FUNCTION constexpr operator std::ptrdiff_t() const { return 1; }
};
template <class Layered>
KOKKOS_INLINE_FUNCTION auto layer_step([[maybe_unused]] Layered const& x) {
  if constexpr (std::is_same_v<typename Layered::array_layout, Kokkos::LayoutRight>) return neighbours{};
  else return std::ptrdiff_t(x.stride(2));
}

/// The largest number of layers; the factors of the mixing travel with the kernel.
inline constexpr int max_layers = 128;

/// The constants of the equations, in SI units.
struct physics {
  int layers = 1;
  double coriolis = 0;    ///< f, 1/s
  double gravity = 0;     ///< g, m/s^2
  double layer_depth = 0; ///< h, m: rest thickness of each layer
  double dx = 1, dy = 1;  ///< m
  double dt = 0;          ///< s; leapfrog steps over twice this
};

/// The implicit vertical mixing over 2 dt, (1 + a n_k) x_k - a x_{k-1} - a x_{k+1} = r_k with
/// a = 2 dt nu / h^2 and n_k neighbours, factorised once: the matrix is the same for all columns.
/// Thomas' elimination; the matrix is diagonally dominant, so no pivoting is needed.
struct mixing {
  double pivot[max_layers] = {}; ///< 1 / (diagonal after elimination)
  double carry[max_layers] = {}; ///< a * pivot: what the neighbour's value is weighted with

  mixing() = default;
  mixing(int layers, double a) {
    for (int k = 0; k < layers; ++k) {
      int const neighbours = (k > 0) + (k + 1 < layers);
      pivot[k] = 1 / (1 + a * neighbours - (k > 0 ? a * carry[k - 1] : 0));
      carry[k] = a * pivot[k];
    }
  }
};

/// The part of the grid that a rank owns, in indices of its views, ghosts left out, and whether
/// it ends at a closed wall. There v = 0, and nothing beyond is read.
struct part {
  int i_begin = 0, i_end = 0, j_begin = 0, j_end = 0;
  bool south_wall = false, north_wall = false;
};

/// One step of all columns, in one pass over memory: the tendencies at the current level, the leap from the old level
/// over 2 dt, and the vertical mixing of u and v.
///
///     deta = -h sum_k (du_k/dx + dv_k/dy)    du = +f v - g deta/dx    dv = -f u - g deta/dy
///     new = old + 2 dt * tendency, then mixed
///
/// Reads one ghost cell all round at the current level, corners too; owned cells of the old one. Writes owned cells.
/// At a closed wall v = 0 and the slope is 0; nothing beyond is read. A processor keeps its columns on the stack, a GPU
/// in the memory of the team.
template <class Field, class Layered, class FieldOut, class LayeredOut>
struct advance_columns {
  Field eta_old, eta;
  Layered u_old, v_old, u, v;
  FieldOut eta_new;
  LayeredOut u_new, v_new;
  physics p;
  mixing mix;
  part here;

  /// Columns on the stack, the recurrences of the mixing in turns, which hides their latency.
  template <std::size_t Count, bool Whole>
  KOKKOS_FUNCTION void operator()(keel::block::column_block<2, Count, Whole> const& b) const {
    if (Count == 1 && !is_owned(int(b.index(0)))) return;
    double columns[Count][max_layers], flux[Count]; // flux: out of each column, m/s
    auto const keep = [&](std::size_t c) { return [&, c](int k, double x) { columns[c][k] = x; }; };
    for (std::size_t c = 0; c < Count; ++c) flux[c] = leap_u(int(b.index(0, c)), int(b.index(1, c)), keep(c));
    mix_layers<Count>(columns);
    for (std::size_t c = 0; c < Count; ++c) write(columns[c], &u_new(b.index(0, c), b.index(1, c), 0));
    for (std::size_t c = 0; c < Count; ++c) flux[c] += leap_v(int(b.index(0, c)), int(b.index(1, c)), keep(c));
    mix_layers<Count>(columns);
    for (std::size_t c = 0; c < Count; ++c) write(columns[c], &v_new(b.index(0, c), b.index(1, c), 0));
    for (std::size_t c = 0; c < Count; ++c) set_eta(b.index(0, c), b.index(1, c), flux[c]);
  }
  /// One column in the memory of the team, eliminated while it is computed and substituted while it is written.
  template <bool Whole>
  KOKKOS_FUNCTION void operator()(keel::block::column_block<2, 1, Whole> const& b,
                                  keel::block::team_memory<double> const& memory) const {
    auto const i = b.index(0), j = b.index(1);
    if (!is_owned(int(i))) return;
    double up = 0;
    auto const eliminate = [&](int k, double x) { memory[std::size_t(k)] = up = x + mix.carry[k] * up; };
    double flux = leap_u(int(i), int(j), eliminate);
    substitute(memory, &u_new(i, j, 0));
    up = 0;
    flux += leap_v(int(i), int(j), eliminate);
    substitute(memory, &v_new(i, j, 0));
    set_eta(i, j, flux);
  }

private:
  KEEL_FORCE_INLINE KOKKOS_FUNCTION bool is_owned(int i) const { return i >= here.i_begin && i < here.i_end; }

  KEEL_FORCE_INLINE KOKKOS_FUNCTION void set_eta(std::size_t i, std::size_t j, double flux) const {
    eta_new(i, j) = eta_old(i, j) + 2 * p.dt * (-p.layer_depth * flux);
  }

  /// Calls put(k, x) for the layers of a column upwards, x being u_old + 2 dt du, times the pivot. Returns the
  /// northward part of its flux.
  template <class Put>
  KEEL_FORCE_INLINE KOKKOS_FUNCTION double leap_u(int i, int j, Put const& put) const {
    bool const wall = here.north_wall && j + 1 == here.j_end;
    int const to_north = wall ? 0 : 1;
    double const open = wall ? 0 : 1, quarter_f = 0.25 * p.coriolis, two_dt = 2 * p.dt, per_dy = 1 / p.dy;
    double const slope = p.gravity / p.dx * (eta(i, j) - eta(i - 1, j));
    double const *const old = &u_old(i, j, 0), *const v_here = &v(i, j, 0), *const v_west = &v(i - 1, j, 0),
                        *const v_north = &v(i, j + to_north, 0), *const v_north_west = &v(i - 1, j + to_north, 0);
    auto const step = layer_step(v);
    return for_layers(
        [&](std::ptrdiff_t k) {
          auto const at = k * step;
          double const north = open * (v_north_west[at] + v_north[at]);
          return two_dt * (quarter_f * (v_west[at] + v_here[at] + north) - slope);
        },
        [&](std::ptrdiff_t k) { return (open * v_north[k * step] - v_here[k * step]) * per_dy; }, old, step, put);
  }
  /// v_old + 2 dt dv likewise; returns the eastward part.
  template <class Put>
  KEEL_FORCE_INLINE KOKKOS_FUNCTION double leap_v(int i, int j, Put const& put) const {
    bool const wall = here.south_wall && j == here.j_begin;
    int const to_south = wall ? 0 : -1;
    double const open = wall ? 0 : 1, quarter_f = -0.25 * p.coriolis * open, two_dt = 2 * p.dt, per_dx = 1 / p.dx;
    double const slope = open * (p.gravity / p.dy) * (eta(i, j) - eta(i, j + to_south));
    double const *const old = &v_old(i, j, 0), *const u_here = &u(i, j, 0), *const u_east = &u(i + 1, j, 0),
                        *const u_south = &u(i, j + to_south, 0), *const u_south_east = &u(i + 1, j + to_south, 0);
    auto const step = layer_step(u);
    return for_layers(
        [&](std::ptrdiff_t k) {
          auto const at = k * step;
          double const around = u_south[at] + u_south_east[at] + (u_here[at] + u_east[at]);
          return two_dt * (quarter_f * around - slope);
        },
        [&](std::ptrdiff_t k) { return (u_east[k * step] - u_here[k * step]) * per_dx; }, old, step, put);
  }

  /// Elimination upwards and substitution downwards.
  template <std::size_t Count, class Columns>
  KEEL_FORCE_INLINE KOKKOS_FUNCTION void mix_layers(Columns&& columns) const {
    double up[Count] = {}, down[Count] = {}; // the values in the layer before
    for (int k = 0; k < p.layers; ++k)
      for (std::size_t c = 0; c < Count; ++c) columns[c][k] = up[c] = columns[c][k] + mix.carry[k] * up[c];
    for (int k = p.layers; k-- > 0;)
      for (std::size_t c = 0; c < Count; ++c) columns[c][k] = down[c] = columns[c][k] + mix.carry[k] * down[c];
  }
  KEEL_FORCE_INLINE KOKKOS_FUNCTION void write(double const* column, double* to) const {
    auto const step = layer_step(u_new);
    for (int k = 0; k < p.layers; ++k) to[k * step] = column[k];
  }
  template <class Column>
  KEEL_FORCE_INLINE KOKKOS_FUNCTION void substitute(Column const& column, double* to) const {
    auto const step = layer_step(u_new);
    double down = 0;
    for (int k = p.layers; k-- > 0;) to[k * step] = down = column[std::size_t(k)] + mix.carry[k] * down;
  }

  /// put(k, (old[k] + f(k)) * pivot[k]); returns the sum of g(k) over the layers, in eight lanes, layer k in lane
  /// k mod 8, so that vector registers may hold them and the order is the same everywhere. The accesses of eight layers
  /// come first, which a GPU has under way together.
  template <class F, class G, class Step, class Put>
  KEEL_FORCE_INLINE KOKKOS_FUNCTION double for_layers(F const& f, G const& g, double const* old, Step step,
                                                      Put const& put) const {
    double lane[8] = {};
    int k = 0;
    for (; k + 8 <= p.layers; k += 8) {
      double next[8];
      KEEL_UNROLL
      for (int l = 0; l < 8; ++l) next[l] = old[(k + l) * step] + f(k + l), lane[l] += g(k + l);
      KEEL_UNROLL
      for (int l = 0; l < 8; ++l) put(k + l, next[l] * mix.pivot[k + l]);
    }
    for (int l = 0; l < 8; ++l)
      if (k + l < p.layers) put(k + l, (old[(k + l) * step] + f(k + l)) * mix.pivot[k + l]), lane[l] += g(k + l);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
  }
};

/// Whether `Space` wants a thread for each column: where Kokkos itself would rather have the
/// first index contiguous, neighbouring threads are lanes.
template <class Space>
inline constexpr bool has_lanes = std::is_same_v<typename Space::array_layout, Kokkos::LayoutLeft>;

/// One step of the columns of `here`. Does not wait for it.
template <class Space, class Field, class Layered, class FieldOut, class LayeredOut>
void advance_all(std::string const& label, Space const& space, part here, physics const& p, double strength,
                 Field const& eta_old, Layered const& u_old, Layered const& v_old, Field const& eta, Layered const& u,
                 Layered const& v, FieldOut const& eta_new, LayeredOut const& u_new, LayeredOut const& v_new) {
  constexpr std::size_t together = has_lanes<Space> ? 1 : 4;
  // A GPU takes padded rows from a multiple of the padding to one, cells beside the part too, which are left alone: then
  // a warp reads and writes whole lines.
  std::size_t const row = has_lanes<Space> && u_new.extent(0) % row_padding == 0 ? row_padding : 1;
  std::size_t const i_begin = std::size_t(here.i_begin) / row * row;
  std::size_t const i_end = (std::size_t(here.i_end) + row - 1) / row * row;
  auto const columns =
      keel::block::columns_of(u_new, {i_begin, std::size_t(here.j_begin)}, {i_end, std::size_t(here.j_end)});
  keel::block::for_each_block_with_memory<together, keel::block::tail::scalar, double>(
      label, space, columns, std::size_t(p.layers),
      advance_columns<Field, Layered, FieldOut, LayeredOut>{
          eta_old, eta, u_old, v_old, u, v, eta_new, u_new, v_new, p, {p.layers, strength}, here});
}

/// The bytes that one step has to stream: two levels of u and v in, one out, and the same for eta.
inline double streamed_bytes(double cells, int layers) { return 8 * cells * (6.0 * layers + 3); }

} // namespace ocean
