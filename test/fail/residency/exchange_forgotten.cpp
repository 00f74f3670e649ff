// SPDX-License-Identifier: MIT
// expect: reads ghosts that nobody has filled since their owners wrote
// expect: or read owned alone?
// expect: finds_its_ghosts<rhs, eta
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
struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct du : kr::variable<"du", double**> {};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta>> {
  template <class V>
  static void run(V v) {
    v(eta{})(0, 0) = v(kr::past<eta, 1>{})(0, 0);
  }
};
struct step : kr::schedule<kr::cycle<eta>, rhs> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
