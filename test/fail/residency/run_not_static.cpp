// SPDX-License-Identifier: MIT
// expect: a routine's run is not static
// expect: wants_object<rhs
// errors: 1
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**> {};
struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {
  template <class V>
  void run(V, double) {}
};
void use(kr::fields<app, eta>& f) { f.run(rhs{}, 1.0); }
