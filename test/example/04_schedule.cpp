// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

namespace kr = keel::residency;

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::simulated>>;
};
struct wave : kr::variable<"wave", double*, kr::levels<3>> {}; // levels 0, 1 and 2: now, one step ago, two steps ago

struct begin : kr::routine<"begin", kr::on_device, kr::writes<wave, kr::past<wave, 1>>> {
  template <class V>
  static void run(V v, double) {
    auto const now = v(wave{}), old = v(kr::past<wave, 1>{});
    auto const own = v.owned();
    long const shift = v.global_begin()[0] - own.begin[0], middle = v.global_extents()[0] / 2;
    Kokkos::parallel_for(
        "begin", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { now(i) = old(i) = i + shift < middle ? 1 : -1; });
  }
};

/// Leapfrog: two levels of the past make the next one.
struct leap
    : kr::routine<"leap", kr::on_device, kr::reads<kr::past<wave, 1>, kr::owned<kr::past<wave, 2>>>, kr::writes<wave>> {
  template <class V>
  static void run(V v, double c2) {
    auto const next = v(wave{});
    auto const now = v(kr::past<wave, 1>{}), old = v(kr::past<wave, 2>{});
    auto const own = v.owned();
    Kokkos::parallel_for(
        "leap", Kokkos::RangePolicy<typename V::space>(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { next(i) = 2 * now(i) - old(i) + c2 * (now(i - 1) - 2 * now(i) + now(i + 1)); });
  }
};

struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<wave>>> {
  template <class V>
  static void run(V v, double) {
    std::cout << "first cell: " << v(wave{})(v.owned().begin[0]) << '\n';
  }
};

/// `cycle` moves each level one step into the past. It copies nothing.
struct step : kr::schedule<kr::cycle<wave>, leap, kr::exchange<wave>, kr::every<2, output>> {};

// The compiler follows the schedule to its steady state. These are the copies in one period of it.
using plan = kr::plan<app, step, keel::simulated>;
static_assert(plan::copies(kr::host, kr::device, kr::core) == 0, "the core is never copied to the device");
static_assert(plan::copies(kr::device, kr::host, kr::core) == 1, "it comes to the host for the output alone");

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::explain<app, step, keel::simulated>(std::cout);
  kr::fields<app, wave> f{run, kr::grid{{8}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(begin{}, 0.0);
  f.run(kr::exchange<wave, kr::past<wave, 1>>{});
  for (int n = 0; n < 4; ++n) f.step(step{}, 0.25);
} catch (std::exception const& e) {
  return keel::report(e);
}
