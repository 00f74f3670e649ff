// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <algorithm>
#include <cstdio>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct heat : kr::variable<"heat", double**, kr::levels<2>> {}; // now, and one step ago

/// Begins with one hot cell. It has its place in the whole grid, so that the result does not depend on the ranks.
struct ignite : kr::routine<"ignite", kr::on_device, kr::writes<heat>> {
  template <class V>
  static void run(V v) {
    auto const h = v(heat{}); // a Kokkos::View in the memory of the device
    auto const own = v.owned();
    auto const first = v.global_begin();
    long const i0 = 20 - first[0] + own.begin[0], j0 = 30 - first[1] + own.begin[1];
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { h(i, j) = i == i0 && j == j0 ? 100 : 0; });
  }
};

/// Reads the cells of neighbouring ranks, which the exchange of the last step brought. Writes what this rank owns.
struct spread : kr::routine<"spread", kr::on_device, kr::reads<kr::past<heat, 1>>, kr::writes<heat>> {
  template <class V>
  static void run(V v, double rate) {
    auto const old = v(kr::past<heat, 1>{}); // a view of const elements, because it is only read
    auto const now = v(heat{});
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const around = old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1);
          now(i, j) = old(i, j) + rate * (around - 4 * old(i, j));
        });
  }
};

/// Runs on the host. Its data are copied there, because it reads them.
struct warmest : kr::routine<"warmest", kr::on_host, kr::reads<kr::owned<heat>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(heat{});
    auto const own = v.owned();
    double most = 0;
    for (auto i = own.begin[0]; i < own.end[0]; ++i)
      for (auto j = own.begin[1]; j < own.end[1]; ++j) most = std::max(most, h(i, j));
    return most;
  }
};

/// The heat of this rank. The bits are the same on every device of the host.
struct total : kr::routine<"total", kr::on_device, kr::reads<kr::owned<heat>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(heat{});
    return kr::sum_owned(v, KOKKOS_LAMBDA(int i, int j) { return h(i, j); });
  }
};

struct step : kr::schedule<kr::cycle<heat>, spread, kr::exchange<heat>> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, heat> f{run, kr::grid{{64, 64}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(ignite{});
  f.run(kr::exchange<heat>{});
  for (int n = 0; n < 100; ++n) f.step(step{}, 0.2);
  auto const of_ranks = keel::machine::all_gather(run.environment(), f.run(warmest{}));
  double const most = *std::max_element(of_ranks.begin(), of_ranks.end());
  double const all = keel::machine::sum(run.environment(), f.run(total{}));
  if (run.environment().is_master()) std::printf("the warmest cell has %.9f of %.9f\n", most, all);
} catch (std::exception const& e) {
  return keel::report(e);
}
