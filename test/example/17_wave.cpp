// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct eta : kr::variable<"eta", double**, kr::levels<2>> {};

KOKKOS_INLINE_FUNCTION double drop(double x, double y) { return std::exp(-(x * x + y * y) / 40); }

/// Two drops on still water.
struct splash : kr::routine<"splash", kr::on_device, kr::writes<eta, kr::past<eta, 1>>> {
  template <class V>
  static void run(V v) {
    auto const now = v(eta{}), before = v(kr::past<eta, 1>{});
    auto const first = v.global_begin(), own = v.owned().begin;
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const x = double(first[0] + i - own[0]), y = double(first[1] + j - own[1]);
          now(i, j) = before(i, j) = drop(x - 30, y - 50) - drop(x - 70, y - 110);
        });
  }
};

/// The wave equation, fourth order in space; the oldest level becomes the newest one.
struct leap : kr::routine<"leap", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::updates<eta>> {
  template <class V>
  static void run(V v) {
    auto const h = v(kr::past<eta, 1>{});
    auto const next = v(eta{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const near = h(i - 1, j) + h(i + 1, j) + h(i, j - 1) + h(i, j + 1);
          double const far = h(i - 2, j) + h(i + 2, j) + h(i, j - 2) + h(i, j + 2);
          next(i, j) = 2 * h(i, j) - next(i, j) + 0.25 * (16 * near - far - 60 * h(i, j)) / 12;
        });
  }
};

struct highest : kr::routine<"highest", kr::on_device, kr::reads<kr::owned<eta>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(eta{});
    return kr::reduce_owned(v, keel::machine::maximum{}, KOKKOS_LAMBDA(int i, int j) { return h(i, j); });
  }
};

struct around : kr::schedule<kr::exchange<eta>, kr::mirror<eta>> {}; // two walls; the other dimension is periodic
struct movie : kr::save<"movie", kr::owned<eta>> {};
struct save : kr::schedule<kr::every<20, movie>, kr::every<100, kr::checkpoint<"run">>> {};
struct step : kr::schedule<kr::cycle_in_place<eta>, leap, around, save> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, eta> f{run, kr::grid{{100, 160}, kr::ghost_width{2}, kr::periodic{false, true}}};
  if (!f.restart<step>()) { // from the checkpoint that --keel-restart names
    f.run(splash{});
    f.run(around{});
    f.run(kr::exchange<kr::past<eta, 1>>{});
    f.run(movie{});
  }
  int const steps = argc > 1 ? std::atoi(argv[1]) : 300;
  while (f.steps() < steps) f.step(step{});
  double const top = keel::machine::max(run.environment(), f.run(highest{}));
  if (run.environment().is_master()) std::printf("step %d: the highest wave has %.15f\n", int(f.steps()), top);
} catch (std::exception const& e) {
  return keel::report(e);
}
