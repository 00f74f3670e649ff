// SPDX-License-Identifier: MIT
#include <keel/keel.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kr = keel::residency;

struct app : keel::defaults {};
struct eta : kr::variable<"eta", double**> {};
struct u : kr::variable<"u", double**, kr::at<kr::face<0>>, kr::sign<-1>> {};
struct w : kr::variable<"w", double**, kr::at<kr::face<1>>, kr::sign<-1>> {};

/// A drop near the fold, on water that is at rest.
struct splash : kr::routine<"splash", kr::on_device, kr::writes<eta, u, w>> {
  template <class V>
  static void run(V v) {
    auto const h = v(eta{}), x = v(u{}), y = v(w{});
    auto const first = v.global_begin(), own = v.owned().begin;
    kr::for_owned(
        v, KOKKOS_LAMBDA(int i, int j) {
          double const to_east = double(first[0] + i - own[0]) - 30, to_north = double(first[1] + j - own[1]) - 66;
          h(i, j) = std::exp(-(to_east * to_east + to_north * to_north) / 20);
        });
    kr::for_each_cell(v, v.owned(u{}), KOKKOS_LAMBDA(int i, int j) { x(i, j) = 0; });
    kr::for_each_cell(v, v.owned(w{}), KOKKOS_LAMBDA(int i, int j) { y(i, j) = 0; });
  }
};

/// Slopes push water through faces; at the wall in the south, which mirrors eta, there is none.
struct push : kr::routine<"push", kr::on_device, kr::reads<eta>, kr::updates<u, w>> {
  template <class V>
  static void run(V v) {
    auto const h = v(eta{});
    auto const x = v(u{}), y = v(w{});
    kr::for_each_cell(v, v.owned(u{}), KOKKOS_LAMBDA(int i, int j) { x(i, j) -= 0.4 * (h(i, j) - h(i - 1, j)); });
    kr::for_each_cell(v, v.owned(w{}), KOKKOS_LAMBDA(int i, int j) { y(i, j) -= 0.4 * (h(i, j) - h(i, j - 1)); });
  }
};
struct flow : kr::routine<"flow", kr::on_device, kr::reads<kr::inside<u>, kr::inside<w>>, kr::updates<eta>> {
  template <class V>
  static void run(V v) {
    auto const h = v(eta{});
    auto const x = v(u{}), y = v(w{});
    kr::for_owned(v, KOKKOS_LAMBDA(int i, int j) { h(i, j) -= 0.4 * (x(i + 1, j) - x(i, j) + y(i, j + 1) - y(i, j)); });
  }
};
struct water : kr::routine<"water", kr::on_device, kr::reads<kr::owned<eta>>> {
  template <class V>
  static double run(V v) {
    auto const h = v(eta{});
    return kr::sum_owned(v, KOKKOS_LAMBDA(int i, int j) { return h(i, j); });
  }
};

using movie = kr::every<20, kr::save<"movie", kr::owned<eta>>>;
struct step : kr::schedule<kr::exchange<eta>, kr::mirror<eta>, push, kr::exchange<u, w>, flow, movie> {};

int main(int argc, char** argv) try {
  keel::runtime<app> run{argc, argv};
  if (run.help_requested()) return 0;
  kr::fields<app, eta, u, w> f{run, kr::grid{{160, 80}, kr::ghost_width{1}, kr::periodic{true, false}, kr::fold<1>{}}};
  f.run(splash{});
  while (f.steps() < (argc > 1 ? std::atoi(argv[1]) : 60)) f.step(step{});
  double const sum = keel::machine::sum(run.environment(), f.run(water{}));
  if (run.environment().is_master()) std::printf("step %d: there is %.9f water\n", int(f.steps()), sum);
} catch (std::exception const& e) {
  return keel::report(e);
}
