// SPDX-License-Identifier: MIT
// expect: keel::residency: a routine's run(v, ...) takes neither
// expect: rhs
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
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v, double) {
    v(du{})(0, 0) = v(kr::past<eta, 1>{})(0, 0);
  }
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
