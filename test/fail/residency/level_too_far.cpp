// SPDX-License-Identifier: MIT
// expect: keel::residency::past: the variable has no such level
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 2>>, kr::writes<du>>, idle {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
