// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <cstdio>

namespace kr = keel::residency;

struct app : keel::defaults {
  using exchange = kr::on_device; // so that a graph has it
};
struct heat : kr::variable<"heat", double**, kr::levels<2>> {};

/// A plate that begins cold.
struct cool : kr::routine<"cool", kr::on_device, kr::writes<heat>> {
  template <class V>
  static void run(V v) {
    auto const h = v(heat{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { h(i, j) = 0; });
  }
};

/// Knows nothing of walls: it reads ghosts on all sides.
struct spread : kr::routine<"spread", kr::on_device, kr::reads<kr::past<heat, 1>>, kr::writes<heat>> {
  template <class V>
  static void run(V v, double rate) {
    auto const old = v(kr::past<heat, 1>{});
    auto const now = v(heat{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const around = old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1);
          now(i, j) = old(i, j) + rate * (around - 4 * old(i, j));
        });
  }
};

/// The least of this rank's cells.
struct coldest : kr::routine<"coldest", kr::on_device, kr::reads<kr::owned<heat>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(heat{});
    return kr::reduce_owned(v, keel::machine::minimum{}, KOKKOS_LAMBDA(int i, int j) { return h(i, j); });
  }
};

struct flame {
  static constexpr double value = 100;
};

// After an exchange, all ghosts beyond the plate: a flame before the first row, more of the same behind the last one,
// and at both ends of each row a mirror, through which nothing flows.
struct around : kr::schedule<kr::exchange<heat>, kr::fixed<heat, flame, kr::on_side<0, kr::side::low>>,
                             kr::outflow<heat, kr::on_side<0, kr::side::high>>, kr::mirror<heat, kr::on_side<1>>> {};
struct step : kr::graph<kr::cycle<heat>, spread, around> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, heat> f{run, kr::grid{{16, 64}, kr::ghost_width{1}}};
  f.run(cool{});
  f.run(around{});
  for (int n = 0; n < 200; ++n) f.step(step{}, 0.2);
  double const least = keel::machine::min(run.environment(), f.run(coldest{}));
  if (run.environment().is_master()) std::printf("the coldest cell has %.9f\n", least);
} catch (std::exception const& e) {
  return keel::report(e);
}
