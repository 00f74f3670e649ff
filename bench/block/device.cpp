// SPDX-License-Identifier: MIT
/// @file
/// Kernels of keel::block on Kokkos' default execution space, beside the same by Kokkos alone and, on a CUDA card, by
/// hand: bench-block-device [columns] [side]. All in one program, in turns.
#include <keel/block.hpp>
#include <keel/space/blocked.hpp>

#include "rounds.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

namespace kb = keel::block;
using variant = keel::bench::rounds::variant;
using space = Kokkos::DefaultExecutionSpace;
using layout = Kokkos::LayoutLeft; // neighbouring columns side by side
using line = Kokkos::View<double*, layout, space>;
using plane = Kokkos::View<double**, layout, space>;
using const_plane = Kokkos::View<double const**, layout, space>;

constexpr std::size_t levels = 64;
constexpr bool has_lanes = std::is_same_v<space::array_layout, Kokkos::LayoutLeft>;
constexpr std::size_t length = has_lanes ? 1 : kb::length<double, keel::serial>;

struct copy {
  double* to;
  double const* from;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = from[i]; }
};
struct triad {
  double* to;
  double const *a, *b;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = a[i] + 3.0 * b[i]; }
};

/// The factorised systems, level by level in each column, in place.
struct thomas_by_kokkos {
  plane x;
  line lower, diagonal, upper;
  KOKKOS_FUNCTION void operator()(std::size_t c) const {
    double y = x(c, 0) *= diagonal(0);
    for (std::size_t k = 1; k < levels; ++k) x(c, k) = y = x(c, k) * diagonal(k) - y * lower(k);
    for (std::size_t k = levels - 1; k-- > 0;) x(c, k) = y = x(c, k) - y * upper(k);
  }
};

/// Five points of a square.
struct five_points {
  plane to;
  const_plane from;
  template <class Block>
  KOKKOS_FUNCTION void operator()(Block const& b) const {
    auto const here = b.template load<true>(from);
    auto const beside = b.template load_beside<-1, true>(from, here) + b.template load_beside<1, true>(from, here);
    std::size_t const other = 1 - b.along;
    auto const around =
        beside + (b.shifted(other, -1).template load<true>(from) + b.shifted(other, 1).template load<true>(from));
    b.template store<true>(to, here + 0.1 * (around - 4.0 * here));
  }
};
struct five_points_by_kokkos {
  plane to;
  const_plane from;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    double const here = from(i, j);
    to(i, j) = here + 0.1 * (((from(i, j - 1) + from(i, j + 1)) + (from(i - 1, j) + from(i + 1, j))) - 4.0 * here);
  }
};

#if defined(KOKKOS_ENABLE_CUDA)
/// The column in registers.
__global__ void __launch_bounds__(128)
    thomas_by_hand(double* __restrict__ x, double const* __restrict__ lower, double const* __restrict__ diagonal,
                   double const* __restrict__ upper, std::size_t columns) {
  std::size_t const c = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  double between[levels];
  double y = x[c] * diagonal[0];
  between[0] = y;
#pragma unroll
  for (std::size_t k = 1; k < levels; ++k) between[k] = y = x[k * columns + c] * diagonal[k] - y * lower[k];
  x[(levels - 1) * columns + c] = y;
#pragma unroll
  for (std::size_t k = levels - 1; k-- > 0;) x[k * columns + c] = y = between[k] - y * upper[k];
}
/// Column and coefficients in shared memory; a warp copies its columns there together, past registers and the first
/// cache, 16 levels a stage. The number of columns is a multiple of 32.
__global__ void thomas_in_shared(double* __restrict__ x, double const* __restrict__ lower,
                                 double const* __restrict__ diagonal, double const* __restrict__ upper,
                                 std::size_t columns) {
  extern __shared__ double memory[];
  __shared__ double l[levels], d[levels], u[levels];
  int const lane = int(threadIdx.x & 31), half = lane >> 4, pair = (lane & 15) * 2;
  double *const warp = memory + (threadIdx.x >> 5) * 32 * levels, *const between = warp + lane;
  std::size_t const first = std::size_t(blockIdx.x) * 64 + (threadIdx.x & ~31U), c = first + std::size_t(lane);
  if (first < columns) {
#pragma unroll 8
    for (int k = 0; k < int(levels); k += 2) {
      auto const to = unsigned(__cvta_generic_to_shared(warp + (k + half) * 32 + pair));
      double const* const from = x + std::size_t(k + half) * columns + first + std::size_t(pair);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
      if (k % 16 == 14) asm volatile("cp.async.commit_group;");
    }
  }
  for (std::size_t k = threadIdx.x; k < levels; k += 64) l[k] = lower[k], d[k] = diagonal[k], u[k] = upper[k];
  __syncthreads();
  if (first >= columns) return;
  double y = 0;
  auto const sixteen = [&](int k) {
    __syncwarp();
#pragma unroll
    for (int n = k; n < k + 16; ++n)
      between[n * 32] = y = n == 0 ? between[0] * d[0] : between[n * 32] * d[n] - y * l[n];
  };
  asm volatile("cp.async.wait_group 3;" ::: "memory");
  sixteen(0);
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  sixteen(16);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  sixteen(32);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  sixteen(48);
  x[(levels - 1) * columns + c] = y;
#pragma unroll 8
  for (std::size_t k = levels - 1; k-- > 0;) x[k * columns + c] = y = between[k * 32] - y * u[k];
}
__global__ void stencil_by_hand(double* __restrict__ to, double const* __restrict__ from, int side) {
  int const i = 1 + int(blockIdx.x * blockDim.x + threadIdx.x), j = 1 + int(blockIdx.y * blockDim.y + threadIdx.y);
  if (i + 1 >= side || j + 1 >= side) return;
  double const* const at = from + std::size_t(j) * std::size_t(side) + i;
  double const here = *at;
  to[std::size_t(j) * std::size_t(side) + i] = here + 0.1 * (((at[-side] + at[side]) + (at[-1] + at[1])) - 4.0 * here);
}
/// Each thread goes along eight rows with three of them in registers.
__global__ void marching_by_hand(double* __restrict__ to, double const* __restrict__ from, int side) {
  int const i = 1 + int(blockIdx.x * blockDim.x + threadIdx.x), first = 1 + 8 * int(blockIdx.y);
  if (i + 1 >= side) return;
  double const* at = from + std::size_t(first) * std::size_t(side) + i;
  double below = at[-side], here = *at;
#pragma unroll
  for (int n = 0; n < 8; ++n) {
    if (first + n + 1 >= side) return;
    double const above = at[side];
    to[at - from] = here + 0.1 * (((below + above) + (at[-1] + at[1])) - 4.0 * here);
    below = here, here = above, at += side;
  }
}
#endif

template <class View>
void fill(View const& view, double base) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.span(); ++i) host.data()[i] = base + double(i * 37 % 101) / 128;
  Kokkos::deep_copy(view, host);
}

struct bench {
  std::vector<variant> all;
  /// A variant that is over when the device has done it.
  void add(char const* name, double bytes, std::function<void()> run) {
    all.push_back({name, bytes, [run = std::move(run)] { run(), space().fence(); }});
  }
};

/// Whether two runs from the same start leave the same bits in `x`.
template <class View, class A, class B>
bool same_bits(View const& x, A const& one, B const& other) {
  auto const result = [&](auto const& run) {
    fill(x, 1);
    run(), space().fence();
    auto const host = Kokkos::create_mirror_view(x);
    Kokkos::deep_copy(host, x);
    return std::vector<double>(host.data(), host.data() + host.span());
  };
  auto const a = result(one), b = result(other);
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

bool tridiagonal(std::size_t columns) {
  plane const x("x", columns, levels), y("y", columns, levels), z("z", columns, levels), w("w", columns, levels);
  line const lower("lower", levels), diagonal("diagonal", levels), upper("upper", levels);
  fill(x, 1), fill(y, 1), fill(lower, -1.5), fill(diagonal, 4), fill(upper, -1.5);
  fill(z, 4), fill(w, -1.5); // coefficients of every column
  kb::tridiagonal<line, line, line> const same{lower, diagonal, upper};
  line const l("l", levels), d("d", levels), u("u", levels);
  Kokkos::deep_copy(l, lower), Kokkos::deep_copy(d, diagonal), Kokkos::deep_copy(u, upper);
  auto const once = kb::factorise<1>("factorise", space(), kb::tridiagonal<line, line, line>{l, d, u});
  space().fence();
  std::size_t const n = columns * levels;
  double const in_place = 16.0 * double(n);
  auto const by_keel = [=] { kb::solve_tridiagonal<length, levels>("t", space(), once, x); };
  auto const by_kokkos = [=] {
    Kokkos::parallel_for("k", Kokkos::RangePolicy<space>(0, columns), thomas_by_kokkos{x, l, d, u});
  };
  bench b;
  b.add("copy", in_place,
        [=] { Kokkos::parallel_for("copy", Kokkos::RangePolicy<space>(0, n), copy{y.data(), x.data()}); });
  b.add("triad", 1.5 * in_place,
        [=] { Kokkos::parallel_for("triad", Kokkos::RangePolicy<space>(0, n), triad{y.data(), x.data(), z.data()}); });
  b.add("the same matrix factorised once, keel", in_place, by_keel);
  b.add("the same, Kokkos, in place", in_place, by_kokkos);
  bool good = same_bits(x, by_keel, by_kokkos);
#if defined(KOKKOS_ENABLE_CUDA)
  auto const by_hand = [=] {
    thomas_by_hand<<<dim3(unsigned((columns + 127) / 128)), 128, 0, space().cuda_stream()>>>(
        x.data(), l.data(), d.data(), u.data(), columns);
  };
  b.add("the same, CUDA by hand, column in registers", in_place, by_hand);
  auto const in_shared = [=] {
    thomas_in_shared<<<dim3(unsigned((columns + 63) / 64)), 64, 64 * levels * sizeof(double), space().cuda_stream()>>>(
        x.data(), l.data(), d.data(), u.data(), columns);
  };
  if (columns % 32 == 0) {
    b.add("the same, CUDA by hand, column in shared memory", in_place, in_shared);
    good = same_bits(x, by_keel, in_shared) && good;
  }
  good = same_bits(x, by_keel, by_hand) && good;
#endif
  b.add("the same matrix eliminated each time, keel", in_place,
        [=] { kb::solve_tridiagonal<length, levels>("t", space(), same, x); });
  b.add("a matrix for each column, eliminated each time, keel", 40.0 * double(n),
        [=] { kb::solve_tridiagonal<length, levels>("t", space(), kb::tridiagonal<plane, plane, plane>{w, z, w}, x); });
  keel::bench::rounds r(std::move(b.all));
  r.measure(13, has_lanes ? 20 : 1);
  if (!good) std::printf("tridiagonal: WRONG RESULT\n");
  return r.print(("tridiagonal, " + std::to_string(columns) + " x 64").c_str(), "GB/s") && good;
}

bool stencil(std::size_t side) {
  plane const from("from", side, side), to("to", side, side);
  fill(from, 1);
  double const inner = double(side - 2), bytes = 16.0 * inner * inner;
  constexpr std::size_t rows = has_lanes ? 8 : length; // of a thread; on a processor cells side by side
  auto const by_keel = [=] {
    kb::for_each_block<rows, kb::tail::masked>(
        "s", space(), kb::columns<2>{{1, 1}, {side - 1, side - 1}, has_lanes ? 1 : 0}, five_points{to, from});
  };
  auto const one_row = [=] {
    kb::for_each_block<length, kb::tail::masked>("s", space(), kb::columns<2>{{1, 1}, {side - 1, side - 1}, 0},
                                                 five_points{to, from});
  };
  auto const by_kokkos = [=] {
    int const end = int(side) - 1;
    Kokkos::parallel_for("k", Kokkos::MDRangePolicy<space, Kokkos::Rank<2>>({1, 1}, {end, end}),
                         five_points_by_kokkos{to, from});
  };
  std::size_t const n = side * side;
  bench b;
  b.add("copy", 16.0 * double(n),
        [=] { Kokkos::parallel_for("copy", Kokkos::RangePolicy<space>(0, n), copy{to.data(), from.data()}); });
  b.add("five-point stencil, keel", bytes, by_keel);
  if (has_lanes) b.add("the same, one row a thread", bytes, one_row);
  b.add("the same, Kokkos' MDRange", bytes, by_kokkos);
  bool good = same_bits(to, by_keel, by_kokkos) && same_bits(to, by_keel, one_row);
#if defined(KOKKOS_ENABLE_CUDA)
  auto const by_hand = [=] {
    dim3 const threads(32, 8), blocks(unsigned((side - 2 + 31) / 32), unsigned((side - 2 + 7) / 8));
    stencil_by_hand<<<blocks, threads, 0, space().cuda_stream()>>>(to.data(), from.data(), int(side));
  };
  auto const marching = [=] {
    dim3 const threads(128), blocks(unsigned((side - 2 + 127) / 128), unsigned((side - 2 + 7) / 8));
    marching_by_hand<<<blocks, threads, 0, space().cuda_stream()>>>(to.data(), from.data(), int(side));
  };
  b.add("the same, CUDA by hand", bytes, by_hand);
  b.add("the same, CUDA by hand, marching along eight rows", bytes, marching);
  good = same_bits(to, by_keel, by_hand) && same_bits(to, by_keel, marching) && good;
#endif
  keel::bench::rounds r(std::move(b.all));
  r.measure(13, has_lanes ? 20 : 1);
  if (!good) std::printf("stencil: WRONG RESULT\n");
  return r.print(("stencil, " + std::to_string(side) + " x " + std::to_string(side)).c_str(), "GB/s") && good;
}

/// A number of the command line, 0 where it is none.
std::size_t number(int argc, char** argv, int n, std::size_t otherwise) {
  if (argc <= n) return otherwise;
  char* end = nullptr;
  long const value = std::strtol(argv[n], &end, 10);
  return *end != 0 || value < 16 ? 0 : std::size_t(value);
}

} // namespace

int main(int argc, char** argv) {
  std::size_t const columns = number(argc, argv, 1, has_lanes ? 1000000 : 100000),
                    side = number(argc, argv, 2, has_lanes ? 8192 : 4096);
  if (argc > 3 || columns == 0 || side == 0) {
    std::fprintf(stderr,
                 "usage: bench-block-device [columns, 16 or more] [cells along the side of the stencil's square]\n");
    return 2;
  }
  Kokkos::ScopeGuard const kokkos{argc, argv};
  std::printf("on %s, a block is %zu\n", space::name(), length);
  bool good = tridiagonal(columns);
  return stencil(side) && good ? 0 : 1;
}
