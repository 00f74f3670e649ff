// SPDX-License-Identifier: MIT
/// @file
/// keel's spaces beside what they stand on, and beside Kokkos' own, in one run. Each line has two that take turns:
/// the median of each, and the median of the quotients of neighbouring turns.
#include <keel/space.hpp>

#if KEEL_WITH_TBB
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <vector>

namespace {

using clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class F>
double measured(int calls, F const& f) {
  auto const begun = clock::now();
  for (int i = 0; i != calls; ++i) f();
  return std::chrono::duration<double, std::micro>(clock::now() - begun).count() / calls;
}

template <class Other, class Keel>
void compare(char const* what, int calls, Other const& other, Keel const& keel) {
  std::vector<double> others;
  std::vector<double> keels;
  std::vector<double> quotients;
  for (int turn = 0; turn != 51; ++turn) {
    double first = 0;
    double second = 0;
    if (turn % 2 == 0) first = measured(calls, other), second = measured(calls, keel);
    else second = measured(calls, keel), first = measured(calls, other);
    others.push_back(first);
    keels.push_back(second);
    quotients.push_back(second / first);
  }
  std::printf("%-44s %12.3f %12.3f %8.3f\n", what, median(others), median(keels), median(quotients));
}

void pools() {
  keel::space::pool<> const pool{keel::space::pool_resource<Kokkos::HostSpace>(keel::space::pool_options{})};
  std::pmr::synchronized_pool_resource below;
  constexpr std::size_t bytes = 64;
  auto const from_pool = [&] { pool.deallocate(pool.allocate(bytes), bytes); };
  auto const from_below = [&] { below.deallocate(below.allocate(bytes, 64), bytes, 64); };
  auto const& resource = pool.resource();
  compare("64 B: std::pmr's pool, keel's", 20000, from_below,
          [&] { resource.deallocate(resource.allocate(bytes, 64), bytes, 64); });
  compare("64 B: the same, Kokkos' tools asked twice", 20000, from_below, from_pool);
  compare("64 B: aligned_alloc, keel's pool", 20000, [] {
    void* volatile const p = std::aligned_alloc(64, bytes);
    std::free(p);
  }, from_pool);
  compare("64 B: Kokkos::HostSpace, keel's pool", 20000, [] {
    Kokkos::HostSpace const host;
    host.deallocate(host.allocate(bytes), bytes);
  }, from_pool);
}

#if KEEL_WITH_TBB
struct triad {
  double* a;
  double const* b;
  double const* c;
  KOKKOS_FUNCTION void operator()(long i) const { a[i] = b[i] + 0.5 * c[i]; }
};
struct nothing {
  KOKKOS_FUNCTION void operator()(long) const {}
};

void threads() {
  using range = ::tbb::blocked_range<long>;
  using keels = Kokkos::RangePolicy<keel::space::tbb, Kokkos::IndexType<long>>;
  using Kokkos_s = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<long>>;
  constexpr long n = 1 << 24;
  Kokkos::View<double*, keel::space::tbb> const a("a", n);
  Kokkos::View<double*, keel::space::tbb> const b("b", n);
  Kokkos::View<double*, keel::space::tbb> const c("c", n);
  triad const kernel{a.data(), b.data(), c.data()};
  auto const plain = [&](long end, auto const& f) {
    ::tbb::parallel_for(range(0, end), [&](range const& r) { for (long i = r.begin(); i != r.end(); ++i) f(i); });
  };
  std::printf("threads: keel %d, %s %d\n", keel::space::tbb().threads(), Kokkos::DefaultHostExecutionSpace::name(),
              static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency()));
  compare("empty kernel: tbb::parallel_for, keel's", 2000, [&] { plain(64, nothing{}); },
          [&] { Kokkos::parallel_for(keels(0, 64), nothing{}); });
  compare("empty kernel: Kokkos' own, keel's", 2000, [&] { Kokkos::parallel_for(Kokkos_s(0, 64), nothing{}); },
          [&] { Kokkos::parallel_for(keels(0, 64), nothing{}); });
  compare("triad: tbb::parallel_for, keel's", 1, [&] { plain(n, kernel); },
          [&] { Kokkos::parallel_for(keels(0, n), kernel); });
  compare("triad: Kokkos' own, keel's", 1, [&] { Kokkos::parallel_for(Kokkos_s(0, n), kernel); },
          [&] { Kokkos::parallel_for(keels(0, n), kernel); });
}
#endif

} // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  {
    std::printf("%-44s %12s %12s %8s\n", "microseconds", "other", "keel", "quotient");
    pools();
#if KEEL_WITH_TBB
    threads();
#endif
  }
  Kokkos::finalize();
}
