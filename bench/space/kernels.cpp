// SPDX-License-Identifier: MIT
/// @file
/// Each pattern on `keel::space::tbb` beside raw oneTBB and Kokkos' own host spaces, in one run; and
/// allocations of each size beside `Kokkos::HostSpace`.
#include <keel/space.hpp>

#include "turns.hpp"

#include <cstdio>
#include <string>

#if KEEL_WITH_TBB

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/blocked_range2d.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/partitioner.h>

namespace bench {

using keel::space::tbb;
using blocks = ::tbb::blocked_range<long>;
using evenly = ::tbb::static_partitioner;
template <class Space>
using range = Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>;

constexpr double wanted = 1.05;

/// keel's form of a kernel beside the same on each of Kokkos' own host spaces; `on` makes the form of a space.
template <class On>
void beside_own(std::string const& what, int calls, On const& on) {
  auto const keel = on(tbb{});
  bench::for_own_spaces([&]<class Space>(Space const& space) {
    compare((what + Space::name()).c_str(), calls, on(space), keel, wanted);
  });
}

struct sums {
  double const* a;
  KOKKOS_FUNCTION void operator()(long i, double& sum) const { sum += a[i]; }
};

void reductions() {
  for (long const n : {1L << 16, 1L << 22}) {
    Kokkos::View<double*, Kokkos::HostSpace> const v("v", std::size_t(n));
    sums const f{v.data()};
    int const calls = n > (1 << 20) ? 2 : 50;
    double total = 0;
    auto const on = [&]<class Space>(Space) { return [&] { Kokkos::parallel_reduce(range<Space>(0, n), f, total); }; };
    auto const raw = [&] {
      total = ::tbb::parallel_reduce(
          blocks(0, n), 0.0,
          [&](blocks const& r, double sum) {
            for (long i = r.begin(); i != r.end(); ++i) f(i, sum);
            return sum;
          },
          [](double x, double y) { return x + y; }, evenly{});
    };
    auto const what = "sum of " + std::to_string(n) + " numbers: ";
    compare((what + "tbb::parallel_reduce").c_str(), calls, raw, on(tbb{}), wanted);
    beside_own(what, calls, on);
  }
}

struct stencil {
  Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace> from;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> to;
  KOKKOS_FUNCTION void operator()(long i, long j) const {
    to(i, j) = 0.25 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1));
  }
};

void stencils() {
  for (long const n : {512L, 2048L}) {
    auto const side = std::size_t(n);
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const a("a", side, side), b("b", side, side);
    stencil const f{a, b};
    int const calls = n > 1000 ? 2 : 20;
    auto const on = [&]<class Space>(Space) {
      using policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                           Kokkos::IndexType<long>>;
      return [&] { Kokkos::parallel_for("stencil", policy({1, 1}, {n - 1, n - 1}), f); };
    };
    auto const raw = [&] {
      ::tbb::parallel_for(
          blocks(1, n - 1),
          [&](blocks const& r) {
            for (long i = r.begin(); i != r.end(); ++i)
              for (long j = 1; j != n - 1; ++j) f(i, j);
          },
          evenly{});
    };
    auto const what = "stencil " + std::to_string(n) + " x " + std::to_string(n) + ": ";
    compare((what + "tbb::parallel_for over rows").c_str(), calls, raw, on(tbb{}), wanted);
    beside_own(what, calls, on);
  }
}

struct row_sums {
  double const* a;
  double* sums;
  long columns;
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    long const row = team.league_rank();
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, columns), [&](long j, double& s) { s += a[row * columns + j]; }, sum);
    sums[row] = sum;
  }
};

void teams() {
  constexpr int rows = 2048;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const a("a", rows, 512);
  Kokkos::View<double*, Kokkos::HostSpace> const s("s", rows);
  row_sums const f{a.data(), s.data(), 512};
  auto const on = [&]<class Space>(Space) {
    return [&] { Kokkos::parallel_for("teams", Kokkos::TeamPolicy<Space>(rows, 1), f); };
  };
  auto const raw = [&] {
    ::tbb::parallel_for(
        0, rows,
        [&](int row) {
          double sum = 0;
          for (long j = 0; j != 512; ++j) sum += f.a[row * 512 + j];
          f.sums[row] = sum;
        },
        evenly{});
  };
  compare("2048 teams of one, a sum of 512 each: tbb::parallel_for", 5, raw, on(tbb{}), wanted);
  beside_own("the same: ", 5, on);
}

struct prefix {
  long const* a;
  long* sums;
  KOKKOS_FUNCTION void operator()(long i, long& sum, bool final) const {
    sum += a[i];
    if (final) sums[i] = sum;
  }
};

void scans() {
  constexpr long n = 1 << 20;
  Kokkos::View<long*, Kokkos::HostSpace> const a("a", n), s("s", n);
  prefix const f{a.data(), s.data()};
  auto const on = [&]<class Space>(Space) { return [&] { Kokkos::parallel_scan(range<Space>(0, n), f); }; };
  auto const raw = [&] {
    ::tbb::parallel_scan(
        blocks(0, n), 0L,
        [&](blocks const& r, long sum, bool final) {
          for (long i = r.begin(); i != r.end(); ++i) f(i, sum, final);
          return sum;
        },
        [](long x, long y) { return x + y; });
  };
  compare("scan of 1048576 numbers: tbb::parallel_scan", 5, raw, on(tbb{}), wanted);
  beside_own("the same: ", 5, on);
}

struct counter {
  long* at;
  KOKKOS_FUNCTION void operator()(long) const { __atomic_fetch_add(at, 1L, __ATOMIC_RELAXED); }
};
struct kokkos_counter {
  long* at;
  KOKKOS_FUNCTION void operator()(long) const { Kokkos::atomic_add(at, 1L); }
};

void atomics() {
  constexpr long n = 1 << 16;
  alignas(64) static long hits = 0;
  auto const on = [&]<class Space>(Space) {
    return [&] { Kokkos::parallel_for(range<Space>(0, n), kokkos_counter{&hits}); };
  };
  compare(
      "65536 additions to one number: tbb::parallel_for", 5,
      [&] {
        ::tbb::parallel_for(
            blocks(0, n),
            [&](blocks const& r) {
              for (long i = r.begin(); i != r.end(); ++i) counter{&hits}(i);
            },
            evenly{});
      },
      on(tbb{}), wanted);
  beside_own("the same: ", 5, on);
}

void allocations() {
  keel::space::pool<> const pool{
      keel::space::pool_resource<Kokkos::HostSpace>(keel::space::pool_options{.largest_block = 64 << 20})};
  for (std::size_t bytes = 64; bytes <= (64 << 20); bytes *= 16) {
    auto const from = [bytes](auto const& space) {
      return [&space, bytes] { space.deallocate(space.allocate(bytes), bytes); };
    };
    Kokkos::HostSpace const host;
    compare(("allocation of " + std::to_string(bytes) + " bytes: Kokkos::HostSpace, keel's pool").c_str(), 500,
            from(host), from(pool), wanted);
  }
}

} // namespace bench

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  bench::print_threads(keel::space::tbb().threads());
  bench::print_head();
  bench::reductions();
  bench::stencils();
  bench::teams();
  bench::scans();
  bench::atomics();
  bench::allocations();
  Kokkos::finalize();
}

#else
int main() { std::printf("no oneTBB\n"); }
#endif
