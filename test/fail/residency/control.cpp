// SPDX-License-Identifier: MIT
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
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    v(du{})(0, 0) = v(kr::past<eta, 1>{})(0, 0);
  }
};
struct step : kr::schedule<kr::cycle<eta>, kr::exchange<kr::past<eta, 1>>, rhs> {};
void use(kr::fields<app, eta, du>& f) {
  f.run(rhs{});
  f.step(step{});
}
