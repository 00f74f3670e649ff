// SPDX-License-Identifier: MIT
// expect: keel::residency: a routine reaches a variable
// expect: rhs
// expect: eta
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    v(du{})(0, 0) = v(eta{})(0, 0);
  }
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
