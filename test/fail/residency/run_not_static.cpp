// SPDX-License-Identifier: MIT
// expect: a routine's run is not static
// expect: run_takes<rhs
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {
  template <class V>
  void run(V, double) {}
};
void use(kr::fields<app, eta>& f) { f.run(rhs{}, 1.0); }
