// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <iostream>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct heat : kr::variable<"heat", double*> {};

struct warm : kr::routine<"warm", kr::on_device, kr::writes<heat>> {
  template <class V>
  static void run(V v, double by) {
    auto const h = v(heat{}); // in the memory of the device; anything not declared above does not compile
    auto const own = v.owned();
    Kokkos::parallel_for(
        "warm", Kokkos::RangePolicy(v.execution_space(), own.begin[0], own.end[0]),
        KOKKOS_LAMBDA(int i) { h(i) = by * i; });
  }
};

struct show : kr::routine<"show", kr::on_host, kr::reads<kr::owned<heat>>> {
  template <class V>
  static void run(V v, double) {
    std::cout << "the first is " << v(heat{})(v.owned().begin[0]) << '\n';
  }
};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, heat> f{run, kr::grid{{1000}, kr::ghost_width{1}, kr::periodic{true}}};
  f.run(warm{}, 20.0); // on the device that --keel-device names
  f.run(show{}, 20.0); // on the host; what it reads was copied there, and nothing else
} catch (std::exception const& e) {
  return keel::report(e);
}
