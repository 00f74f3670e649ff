// SPDX-License-Identifier: MIT
/// @file
/// keel's threads beside plain oneTBB and Kokkos' own, and memory bound to a node beside first touch by hand, in one run.
#include <keel/space.hpp>

#include "turns.hpp"

#include <cstdio>
#include <string>

#if KEEL_WITH_TBB

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

namespace bench {

using keel::space::tbb;
template <class Space>
using range = Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>;

constexpr long n = 1 << 23;

struct triad {
  double* a;
  double const* b;
  double const* c;
  KOKKOS_FUNCTION void operator()(long i) const { a[i] = b[i] + 0.5 * c[i]; }
};
struct nothing {
  KOKKOS_FUNCTION void operator()(long) const {}
};

/// Work in registers alone, some microseconds an item.
struct iterated {
  double* out;
  KOKKOS_FUNCTION void operator()(long i) const {
    double x = 1.0 / double(i + 2);
    for (int turn = 0; turn != 1000; ++turn) x = 3.7 * x * (1 - x);
    out[i] = x;
  }
};

template <class F, class Partitioner>
void plain(long end, F const& f, Partitioner const& how) {
  using blocks = ::tbb::blocked_range<long>;
  ::tbb::parallel_for(
      blocks(0, end),
      [&](blocks const& r) {
        for (long i = r.begin(); i != r.end(); ++i) f(i);
      },
      how);
}

/// Three arrays, each touched first by the kernel that the threads run later.
template <class Memory>
struct arrays {
  using view = Kokkos::View<double*, Memory>;
  view a{Kokkos::view_alloc("a", Kokkos::WithoutInitializing), n};
  view b{Kokkos::view_alloc("b", Kokkos::WithoutInitializing), n};
  view c{Kokkos::view_alloc("c", Kokkos::WithoutInitializing), n};
  arrays() { touch(); }
  /// Kernels of nvcc stand in public functions that are no constructors.
  void touch() const {
    double* const x = a.data();
    double* const y = b.data();
    double* const z = c.data();
    Kokkos::parallel_for(
        "touch", range<tbb>(0, n), KOKKOS_LAMBDA(long i) {
          x[i] = 0;
          y[i] = 1;
          z[i] = 2;
        });
  }
  [[nodiscard]] triad kernel() const { return {a.data(), b.data(), c.data()}; }
};

void empty_kernels() {
  constexpr int calls = 4000;
  auto const keel = [] { Kokkos::parallel_for(range<tbb>(0, 64), nothing{}); };
  compare(
      "empty kernel: tbb::parallel_for, cut evenly as keel does", calls,
      [] { plain(64, nothing{}, ::tbb::static_partitioner{}); }, keel, 1.2);
  compare(
      "empty kernel: tbb::parallel_for as it comes", calls, [] { plain(64, nothing{}, ::tbb::auto_partitioner{}); },
      keel, 1.2);
  bench::for_own_spaces([&]<class Space>(Space const& space) {
    bool const is_parallel = space.concurrency() > 1; // a serial loop of nothing is no kernel
    compare((std::string("empty kernel: ") + Space::name()).c_str(), calls,
            [] { Kokkos::parallel_for(range<Space>(0, 64), nothing{}); }, keel, is_parallel ? 1.2 : 0);
  });
  tbb const own(tbb().threads() + 1);
  compare("empty kernel: the process's threads, an instance's own", calls, keel,
          [&] { Kokkos::parallel_for(range<tbb>(own, 0, 64), nothing{}); });
}

/// At most 1 / 1.9 of the time of one thread is wanted of two, on two cores that are free.
void two_threads() {
  if (tbb().threads() < 2) return;
  constexpr long items = 4096;
  Kokkos::View<double*, Kokkos::HostSpace> const out("out", items);
  iterated const kernel{out.data()};
  tbb const one(1);
  tbb const two(2);
  auto const on = [&](tbb const& space) { return [&] { Kokkos::parallel_for(range<tbb>(space, 0, items), kernel); }; };
  compare("compute-bound: one thread, two", 1, on(one), on(two), 1 / 1.9);
  compare(
      "compute-bound: two threads of tbb::parallel_for, keel's", 1,
      [&] { ::tbb::task_arena(2).execute([&] { plain(items, kernel, ::tbb::static_partitioner{}); }); }, on(two), 1.05);
}

void triads() {
  arrays<Kokkos::HostSpace> const host;
  auto const kernel = host.kernel();
  auto const keel = [&] { Kokkos::parallel_for(range<tbb>(0, n), kernel); };
  compare(
      "triad: tbb::parallel_for, cut evenly as keel does", 1, [&] { plain(n, kernel, ::tbb::static_partitioner{}); },
      keel, 1.02);
  compare("triad: tbb::parallel_for as it comes", 1, [&] { plain(n, kernel, ::tbb::auto_partitioner{}); }, keel, 1.02);
  bench::for_own_spaces([&]<class Space>(Space const&) {
    compare((std::string("triad: ") + Space::name()).c_str(), 1,
            [&] { Kokkos::parallel_for(range<Space>(0, n), kernel); }, keel, 1.02);
  });
}

template <class Memory>
void bound_memory(char const* what) {
  if (!Memory::resource_type::is_available()) {
    std::printf("%-58s %s\n", what, Memory::resource_type::why_not_available().c_str());
    return;
  }
  arrays<Kokkos::HostSpace> const by_hand;
  arrays<Memory> const bound;
  auto const one = by_hand.kernel();
  auto const other = bound.kernel();
  compare(
      what, 1, [&] { Kokkos::parallel_for(range<tbb>(0, n), one); },
      [&] { Kokkos::parallel_for(range<tbb>(0, n), other); }, 1.02);
}

} // namespace bench

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  bench::print_threads(keel::space::tbb().threads());
  std::printf("arrays of %ld MB\n", bench::n * 8 / 1000000);
  bench::print_head();
  bench::empty_kernels();
  bench::two_threads();
  bench::triads();
  bench::bound_memory<keel::space::numa<0>>("triad: first touch by hand, numa<0>");
  bench::bound_memory<keel::space::numa_interleave>("triad: first touch by hand, numa_interleave");
  Kokkos::finalize();
}

#else
int main() { std::printf("no oneTBB\n"); }
#endif
