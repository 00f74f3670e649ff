// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <cstdio>

namespace km = keel::machine;
namespace kr = keel::residency;

struct app : keel::defaults {};
struct x : kr::variable<"x", double*, kr::levels<2>> {};

struct begin : kr::routine<"begin", kr::on_device, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const a = v(x{});
    long const shift = v.global_begin()[0] - v.owned().begin[0];
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { a(i) = (i + shift) % 4 < 2 ? 1 : 0; });
  }
};

struct relax : kr::routine<"relax", kr::on_device, kr::reads<kr::past<x, 1>>, kr::writes<x>> {
  template <class V>
  static void run(V v) {
    auto const old = v(kr::past<x, 1>{});
    auto const now = v(x{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i) { now(i) = 0.5 * old(i) + 0.25 * (old(i - 1) + old(i + 1)); });
  }
};

/// The part of this rank, found where the data are. Only the result comes to the host.
struct measure : kr::routine<"measure", kr::on_device, kr::reads<kr::owned<x>, kr::owned<kr::past<x, 1>>>> {
  template <class V>
  static double run(V v) {
    auto const now = v(x{}), old = v(kr::past<x, 1>{});
    return kr::reduce_owned(
        v, km::maximum{}, KOKKOS_LAMBDA(int i) { return now(i) < old(i) ? old(i) - now(i) : now(i) - old(i); });
  }
};
/// The largest change on any rank.
struct change : kr::reduce<"change", km::maximum, measure> {};

/// A condition has to give the same answer on every rank, so it looks at what they agreed on.
struct is_small {
  using reads = kr::reads<change>;
  static bool holds(double largest) { return largest < 1e-3; }
};
struct tell : kr::routine<"tell", kr::on_host, kr::reads<kr::owned<x>>> {
  template <class V>
  static void run(V v, int steps, bool is_master) {
    if (is_master) std::printf("step %d: every cell is near %.2f\n", steps, v(x{})(v.owned().begin[0]));
  }
};

struct step : kr::schedule<kr::cycle<x>, relax, kr::exchange<x>, change, kr::when<is_small, tell>> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, x> f{run, kr::grid{{400}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(begin{});
  f.run(kr::exchange<x>{});
  for (int n = 1; n == 1 || !is_small::holds(f.value(change{})); ++n) f.step(step{}, n, run.environment().is_master());
} catch (std::exception const& e) {
  return keel::report(e);
}
