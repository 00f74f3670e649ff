// SPDX-License-Identifier: MIT
/// @file
/// A triad and a stencil on `keel::space::tbb` beside plain oneTBB and Kokkos' own host spaces, in turns, in one run.
#include "../medians.hpp"

#include <keel/space.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#if KEEL_WITH_TBB

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

namespace {

using keels = keel::space::tbb;

/// Threads that spin after a kernel, as those of OpenMP, have stopped before the next turn; the first call wakes the others.
template <class F>
double measured(int calls, F const& f) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  f();
  return bench::microseconds(calls, f);
}

/// Calls `f` with each of Kokkos' own host spaces that it was built with.
template <class F>
void for_own_spaces(F const& f) {
#ifdef KOKKOS_ENABLE_SERIAL
  f(Kokkos::Serial());
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  f(Kokkos::OpenMP());
#endif
}

/// Prints a line for oneTBB, whose loop over [begin, end) calls `item`, and one for each of Kokkos' spaces; `on` makes
/// the kernel of a space.
void compare(std::string const& what, int calls, long begin, long end, auto const& item, auto const& on) {
  auto const keel = on(keels{});
  auto const line = [&](char const* name, auto const& other) {
    auto const [of_other, of_keel, quotient] =
        bench::in_turns(51, [&] { return measured(calls, other); }, [&] { return measured(calls, keel); });
    std::printf("%-28s %-18s %12.3f %12.3f %8.3f\n", what.c_str(), name, of_other, of_keel, quotient);
    std::fflush(stdout);
  };
  line("tbb::parallel_for", [&] {
    ::tbb::parallel_for(
        ::tbb::blocked_range<long>(begin, end),
        [&](::tbb::blocked_range<long> const& r) {
          for (long i = r.begin(); i != r.end(); ++i) item(i);
        },
        ::tbb::static_partitioner{}); // cut evenly, as keel does
  });
  for_own_spaces([&]<class Space>(Space const& space) { line(Space::name(), on(space)); });
}

struct triad {
  double* a;
  double const* b;
  double const* c;
  KOKKOS_FUNCTION void operator()(long i) const { a[i] = b[i] + 0.5 * c[i]; }
};
struct touch {
  double *a, *b, *c;
  KOKKOS_FUNCTION void operator()(long i) const { a[i] = 0, b[i] = 1, c[i] = 2; }
};

void triads() {
  constexpr long n = 1 << 23;
  using view = Kokkos::View<double*, Kokkos::HostSpace>;
  view const a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), n);
  view const b(Kokkos::view_alloc("b", Kokkos::WithoutInitializing), n);
  view const c(Kokkos::view_alloc("c", Kokkos::WithoutInitializing), n);
  Kokkos::parallel_for(Kokkos::RangePolicy<keels>(0, n), touch{a.data(), b.data(), c.data()});
  triad const f{a.data(), b.data(), c.data()};
  compare("triad, 3 x " + std::to_string(n * 8 / 1000000) + " MB", 1, 0, n, f, [&]<class Space>(Space) {
    return [&] { Kokkos::parallel_for(Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(0, n), f); };
  });
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
    auto const row = [&](long i) {
      for (long j = 1; j != n - 1; ++j) f(i, j);
    };
    compare("stencil " + std::to_string(n) + " x " + std::to_string(n), n > 1000 ? 2 : 20, 1, n - 1, row,
            [&]<class Space>(Space) {
              using policy =
                  Kokkos::MDRangePolicy<Space, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                                        Kokkos::IndexType<long>>;
              return [&] { Kokkos::parallel_for("stencil", policy({1, 1}, {n - 1, n - 1}), f); };
            });
  }
}

} // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  std::printf("threads: keel %d", keels().threads());
  for_own_spaces(
      []<class Space>(Space const& space) { std::printf(", %s %d", Space::name(), int(space.concurrency())); });
  std::printf("\n%-47s %12s %12s %8s\n", "microseconds", "other", "keel", "quotient");
  triads();
  stencils();
  Kokkos::finalize();
}

#else
int main() { std::printf("no oneTBB\n"); }
#endif
