// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <algorithm>
#include <cstdio>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct x : kr::variable<"x", double*, kr::levels<2>> {};

/// An argument of `step`. A condition has to give the same answer on every rank, so it looks at a norm over all.
struct progress {
  keel::runtime<app>::environment_type const& ranks;
  double change = 1;
  int steps = 0;
};

struct begin : kr::routine<"begin", kr::on_device, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    auto const own = v.owned();
    long const shift = v.global_begin()[0] - own.begin[0];
    Kokkos::parallel_for(
        "begin", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { a(i) = (i + shift) % 4 < 2 ? 1 : 0; });
  }
};

struct relax : kr::routine<"relax", kr::on_device, kr::reads<kr::past<x, 1>>, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<x, 1>{});
    auto const now = v(x{});
    auto const own = v.owned();
    Kokkos::parallel_for(
        "relax", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { now(i) = 0.5 * old(i) + 0.25 * (old(i - 1) + old(i + 1)); });
  }
};

/// A reduction where the data are. Only the result comes to the host.
struct measure : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<x>, kr::owned<kr::past<x, 1>>>> {
  template <class V>
  static void run(V v, progress& p) {
    auto const now = v(x{}), old = v(kr::past<x, 1>{});
    double const mine = kr::reduce_owned(
        v, keel::machine::maximum{},
        KOKKOS_LAMBDA(int i) { return now(i) < old(i) ? old(i) - now(i) : now(i) - old(i); });
    auto const of_ranks = keel::machine::all_gather(p.ranks, mine); // collective
    p.change = *std::max_element(of_ranks.begin(), of_ranks.end());
    ++p.steps;
  }
};

struct is_small {
  static bool holds(progress const& p) { return p.change < 1e-3; }
};
struct tell : kr::routine<"tell", kr::on_host, kr::reads<kr::owned<x>>> {
  template <class V>
  static void run(V v, progress const& p) {
    if (p.ranks.rank() == 0) std::printf("step %d: every cell is near %.2f\n", p.steps, v(x{})(v.owned().begin[0]));
  }
};

struct step : kr::schedule<kr::cycle<x>, relax, kr::exchange<x>, measure, kr::when<is_small, tell>> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, x> f{run, kr::grid{{400}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(begin{});
  f.run(kr::exchange<x>{});
  for (progress p{run.environment()}; !is_small::holds(p);) f.step(step{}, p);
} catch (std::exception const& e) {
  return keel::report(e);
}
