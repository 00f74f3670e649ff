// SPDX-License-Identifier: MIT
// The bodies of the routines of the biharmonic term.
#include "model.hpp"

#include <keel/residency/compiled.hpp>

namespace trisk {

template <class X, int Layers>
template <class V>
void derivatives<X, Layers>::run(V v) {
  operators const on(v);
  auto const x = v(X{});
  auto const d = v(divergence{}), z = v(vorticity{});
  kr::for_each_element(
      v, through(v, kr::layer<divergence, Layers>{}), KOKKOS_LAMBDA(int i) { d(i) = on.divergence(i, x); });
  kr::for_each_element(v, through(v, kr::layer<vorticity, Layers>{}), KOKKOS_LAMBDA(int i) { z(i) = on.curl(i, x); });
}

template <class V>
void laplacians::run(V v) {
  operators const on(v);
  auto const d = v(divergence{});
  auto const z = v(vorticity{});
  auto const to = v(laplacian{});
  kr::for_each_element(
      v, through(v, kr::layer<laplacian, 2>{}), KOKKOS_LAMBDA(int i) { to(i) = on.laplacian(i, d, z); });
}

template <class V>
void damp::run(V v, physics const& p) {
  operators const on(v);
  auto const d = v(divergence{});
  auto const z = v(vorticity{});
  auto const speed = v(u{});
  double const change = p.dt * p.del4;
  kr::for_owned(v, edges{}, KOKKOS_LAMBDA(int i) { speed(i) -= change * on.laplacian(i, d, z); });
}

} // namespace trisk

namespace kr = keel::residency;
using namespace trisk;

template struct kr::compiled<app, derivatives<u, 2>>;
template struct kr::compiled<app, derivatives<trisk::laplacian, 1>>;
template struct kr::compiled<app, laplacians>;
template struct kr::compiled<app, damp>;
