// SPDX-License-Identifier: MIT
// expect: keel::residency: a routine reaches a variable
// expect: rhs
// expect: declares<rhs, du>
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>>, from_past<> {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
