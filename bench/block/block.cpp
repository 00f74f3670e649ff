// SPDX-License-Identifier: MIT
/// @file
/// Kernels of keel::block beside plain loops, functions by xsimd in packs if it is installed, and the rates of memory,
/// all in one program, on one thread and in memory on all: bench-block [MiB of an array] [threads].
#include <keel/block.hpp>

#include "rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#if __has_include(<xsimd/xsimd.hpp>)
#include <xsimd/xsimd.hpp>
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

namespace kb = keel::block;
using variant = keel::bench::rounds::variant;

/// A field of doubles that owns nothing.
template <std::size_t Rank>
struct field {
  static constexpr std::size_t rank = Rank;
  double* at;
  std::array<std::size_t, Rank> extents, strides;
  [[nodiscard]] double* data() const { return at; }
  [[nodiscard]] std::size_t extent(int d) const { return extents[std::size_t(d)]; }
  [[nodiscard]] std::size_t stride(int d) const { return strides[std::size_t(d)]; }
};

using memory = std::unique_ptr<double[], decltype(&std::free)>;
memory allocated(std::size_t count) {
  memory m(static_cast<double*>(std::aligned_alloc(4096, (count * sizeof(double) + 4095) / 4096 * 4096)), &std::free);
  for (std::size_t i = 0; i < count; ++i) m[i] = 1 + double(i % 7) / 8;
  return m;
}

void triad(double* __restrict a, double const* __restrict b, double const* __restrict c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

#if defined(__SSE2__)
void triad_past_cache(double* a, double const* b, double const* c, std::size_t n) {
#if defined(__AVX512F__)
  for (std::size_t i = 0; i + 8 <= n; i += 8)
    _mm512_stream_pd(a + i,
                     _mm512_add_pd(_mm512_load_pd(b + i), _mm512_mul_pd(_mm512_set1_pd(3), _mm512_load_pd(c + i))));
#else
  for (std::size_t i = 0; i + 2 <= n; i += 2)
    _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(_mm_set1_pd(3), _mm_load_pd(c + i))));
#endif
  _mm_sfence();
}
#endif

constexpr std::size_t levels = 64;

/// The mixing of a column: the same matrix for all.
struct matrix {
  std::array<double, levels> lower, diagonal, upper;
  matrix() { lower.fill(-0.3), diagonal.fill(1.6), upper.fill(-0.3); }
  [[nodiscard]] auto fields() { return kb::tridiagonal{line(lower), line(diagonal), line(upper)}; }
  static field<1> line(std::array<double, levels>& a) { return {a.data(), {levels}, {1}}; }
};

/// As one writes it: level by level over all columns, which are neighbours.
void by_levels(kb::factorised<field<1>, field<1>, field<1>> const& m, double* x, std::size_t columns) {
  for (std::size_t k = 0; k < levels; ++k) {
    double* const here = x + k * columns;
    double const p = m.diagonal.at[k], l = m.lower.at[k];
    if (k == 0)
      for (std::size_t c = 0; c < columns; ++c) here[c] *= p;
    else
      for (std::size_t c = 0; c < columns; ++c) here[c] = here[c] * p - l * (here - columns)[c];
  }
  for (std::size_t k = levels - 1; k-- > 0;)
    for (std::size_t c = 0; c < columns; ++c) x[k * columns + c] -= m.upper.at[k] * x[(k + 1) * columns + c];
}
/// Column by column.
void by_columns(kb::factorised<field<1>, field<1>, field<1>> const& m, double* x, std::size_t columns,
                std::size_t along, std::size_t across) {
  for (std::size_t c = 0; c < columns; ++c) {
    double* const column = x + c * across;
    double y = 0;
    for (std::size_t k = 0; k < levels; ++k)
      column[k * along] = y = column[k * along] * m.diagonal.at[k] - m.lower.at[k] * y;
    for (std::size_t k = levels - 1; k-- > 0;) column[k * along] = y = column[k * along] - m.upper.at[k] * y;
  }
}

template <std::size_t... Length>
void add_lengths(std::vector<variant>& all, char const* what, kb::factorised<field<1>, field<1>, field<1>> const& m,
                 field<2> const& x, double bytes, auto right) {
  (all.push_back({std::string(what) + ", keel, length " + std::to_string(Length), bytes,
                  [=] { kb::solve_tridiagonal<Length, levels>("t", kb::caller{}, m, x); }, right}),
   ...);
}

/// Three of n elements, and what runs on them, for one thread.
std::vector<variant> kernels_of(double* a, double* b, double* c, std::size_t n) {
  static matrix numbers;
  static auto const m = kb::factorise<1>("f", kb::caller{}, numbers.fields());
  std::size_t const columns = n / levels;
  double const bytes = 16.0 * double(columns * levels);
  auto const right = [] { // one small system by each, compared
    std::vector<double> one(levels * 96), two(one);
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = two[i] = double(i * 37 % 101);
    kb::solve_tridiagonal<64, levels>("t", kb::caller{}, m, field<2>{one.data(), {96, levels}, {1, 96}});
    by_levels(m, two.data(), 96);
    bool const lefts = one == two;
    by_columns(m, two.data(), 96, 1, levels);
    kb::solve_tridiagonal<64, levels>("t", kb::caller{}, m, field<2>{one.data(), {96, levels}, {levels, 1}});
    return lefts && one == two;
  };
  std::vector<variant> all{{"triad", 24.0 * double(n), [=] { triad(a, b, c, n); }}};
#if defined(__SSE2__)
  all.push_back({"triad, stores past the cache", 24.0 * double(n), [=] { triad_past_cache(a, b, c, n); }});
#endif
  all.push_back({"copy", 16.0 * double(n), [=] { std::memcpy(a, b, n * sizeof(double)); }});
  all.push_back({"triad, keel, length 64", 24.0 * double(n), [=] {
                   kb::for_each_block<64, kb::tail::masked>(
                       std::size_t{0}, n, [=](auto block) { block.store(a, block.load(b) + 3.0 * block.load(c)); });
                 }});
  field<2> const left{a, {columns, levels}, {1, columns}}, rows{a, {columns, levels}, {levels, 1}};
  all.push_back({"columns side by side, plain, level by level", bytes, [=] { by_levels(m, a, columns); }});
  add_lengths<8, 16, 24, 32, 48, 64>(all, "columns side by side", m, left, bytes, right);
  all.push_back({"levels side by side, plain, column by column", bytes, [=] { by_columns(m, a, columns, 1, levels); }});
  add_lengths<8, 16, 32, 64>(all, "levels side by side", m, rows, bytes, right);

  // Five points of a square: reads and writes each cell once.
  auto const side = std::size_t(std::sqrt(double(n)));
  double const cells = 16.0 * double((side - 2) * (side - 2));
  all.push_back({"five-point stencil, plain", cells, [=] {
                   double* __restrict const to = a;
                   double const* __restrict const from = b;
                   for (std::size_t i = 1; i + 1 < side; ++i)
                     for (std::size_t j = 1; j + 1 < side; ++j) {
                       std::size_t const at = i * side + j;
                       to[at] =
                           from[at] + 0.1 * (((from[at - side] + from[at + side]) + (from[at - 1] + from[at + 1])) -
                                             4.0 * from[at]);
                     }
                 }});
  auto const by_blocks = [=](auto range) {
    return [=] {
      for (std::size_t i = 1; i + 1 < side; ++i) {
        double const* const from = b + i * side;
        double* const to = a + i * side;
        kb::for_each_block<8, kb::tail::masked>(range, [=](auto block) {
          auto const here = block.load(from);
          auto const across = block.load(from - side) + block.load(from + side);
          block.store(to, here + 0.1 * ((across + (block.load(from - 1) + block.load(from + 1))) - 4.0 * here));
        });
      }
    };
  };
  all.push_back({"five-point stencil, keel, length 8", cells, by_blocks(kb::indices<std::size_t>{1, side - 1})});
  kb::aligned_indices<std::size_t> const aligned{1, side - 1};
  all.push_back({"the same, aligned", cells, by_blocks(aligned)});
  all.push_back({"the same, aligned, two rows at once", cells, [=] {
                   for (std::size_t i = 1; i + 2 < side; i += 2) {
                     double const* const from = b + i * side;
                     double* const to = a + i * side;
                     kb::for_each_block<16, kb::tail::masked>(aligned, [=](auto block) {
                       auto const here = block.load(from), next = block.load(from + side);
                       auto const beside = block.load(from - 1) + block.load(from + 1);
                       auto const beside_next = block.load(from + side - 1) + block.load(from + side + 1);
                       block.store(to, here + 0.1 * (((block.load(from - side) + next) + beside) - 4.0 * here));
                       block.store(to + side,
                                   next + 0.1 * (((here + block.load(from + 2 * side)) + beside_next) - 4.0 * next));
                     });
                   }
                 }});
  return all;
}

/// Each of these threads has arrays of its own, which it has touched first.
bool in_memory(std::size_t n, int threads, char const* where, int calls) {
  auto const count = std::size_t(threads);
  std::vector<std::vector<variant>> each(count);
  std::vector<memory> arrays;
  for (auto& kernels : each)
    std::jthread([&] {
      double* made[3];
      for (double*& array : made) array = arrays.emplace_back(allocated(n)).get();
      kernels = kernels_of(made[0], made[1], made[2], n);
    }).join();
  std::vector<variant> all = each[0];
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v].units *= threads;
    all[v].run = [&each, v] {
      std::vector<std::jthread> others;
      for (std::size_t t = 1; t < each.size(); ++t) others.emplace_back(each[t][v].run);
      each[0][v].run();
    };
  }
  keel::bench::rounds r(std::move(all));
  r.measure(13, calls);
  std::string const title = std::string(where) + ", " + std::to_string(n * 8 >> 10) + " KiB an array, " +
                            std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  return r.print(title.c_str(), "GB/s");
}

#if __has_include(<xsimd/xsimd.hpp>)
using simd = xsimd::batch<double>;

/// A function by xsimd alone, and in packs, beside the plain loop over that of std.
bool function(char const* what, double* a, double const* b, std::size_t n, auto f, double tolerance) {
  auto const in_packs = [=]<std::size_t Length>(std::integral_constant<std::size_t, Length>) {
    kb::for_each_block<Length, kb::tail::masked>(
        std::size_t{0}, n, [=](auto block) { block.store(a, block.load(b).template map<simd>(f)); });
  };
  std::vector<variant> all{
      {"std, plain loop", double(n), [=] { std::transform(b, b + n, a, f); }},
      {"xsimd", double(n),
       [=] {
         for (std::size_t i = 0; i + simd::size <= n; i += simd::size)
           f(simd::load_unaligned(b + i)).store_unaligned(a + i);
       }},
      {"xsimd in packs of 64", double(n), [=] { in_packs(std::integral_constant<std::size_t, 64>{}); }},
      {"xsimd in packs of 16", double(n), [=] { in_packs(std::integral_constant<std::size_t, 16>{}); }}};
  bool good = true;
  for (auto& v : all) { // every variant by itself, before the turns
    std::fill(a, a + n, -1.0);
    v.run();
    for (std::size_t i = 0; i < n; ++i) good = good && std::abs(a[i] - f(b[i])) <= tolerance * std::abs(a[i]);
    if (!good) std::printf("%s of %s: WRONG RESULT\n", what, v.name.c_str());
  }
  keel::bench::rounds r(std::move(all));
  r.measure(13, 40);
  return r.print(what, "1e9/s") && good;
}

bool functions(double* a, double* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) b[i] = 0.01 + double(i % 1000) / 50;
  auto const exp_of = [](auto x) {
    using std::exp;
    return exp(x);
  };
  auto const log_of = [](auto x) {
    using std::log;
    return log(x);
  };
  bool const good = function("exp", a, b, n, exp_of, 1e-15);
  return function("log", a, b, n, log_of, 1e-13) && good;
}
#else
bool functions(double*, double*, std::size_t) { return true; }
#endif

} // namespace

int main(int argc, char** argv) {
  long numbers[] = {256, long(std::max(1U, std::thread::hardware_concurrency()))};
  bool good = argc <= 3;
  for (int n = 1; good && n < argc; ++n) {
    char* end = nullptr;
    numbers[n - 1] = std::strtol(argv[n], &end, 10);
    good = *end == 0 && end != argv[n] && numbers[n - 1] >= 1 && numbers[n - 1] <= 65536;
  }
  if (!good) {
    std::fprintf(stderr, "usage: bench-block [MiB of an array, 1 to 65536; 256] [threads; all]\n");
    return 2;
  }
  std::size_t const n = std::size_t(numbers[0]) << 17, few = std::size_t{1} << 14;
  good = functions(allocated(few).get(), allocated(few).get(), few);
  good = in_memory(std::size_t{1} << 16, 1, "second-level cache", 40) && good;
  good = in_memory(n, 1, "memory", 1) && good;
  if (numbers[1] > 1) good = in_memory(n, int(numbers[1]), "memory", 1) && good;
  return good ? 0 : 1;
}
