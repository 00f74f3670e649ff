// SPDX-License-Identifier: MIT
// expect: read-only
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    v(kr::past<eta, 1>{})(0, 0) = 1;
  }
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
