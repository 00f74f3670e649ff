// SPDX-License-Identifier: MIT
// expect: keel::residency::compiled: a routine's run is not one template of one type
// expect: rhs
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {
  template <class V>
  static void run(V) {}
  template <class V>
  static void run(V, double) {}
};
template struct kr::compiled<app, rhs>;
