// SPDX-License-Identifier: MIT
// expect: a routine has no run
// expect: names_run<rhs>
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
