// SPDX-License-Identifier: MIT
// expect: a clause of a routine names what is no variable, nor a part of one
// expect: checked_part<app>
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
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<app>, kr::writes<eta>> {
  template <class V>
  static void run(V) {}
};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
