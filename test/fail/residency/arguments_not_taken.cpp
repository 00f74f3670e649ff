// SPDX-License-Identifier: MIT
// expect: keel::residency: a routine's run(v, ...) takes neither
// expect: rhs
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V, double); // its body may stand in another source
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
