// SPDX-License-Identifier: MIT
// expect: a routine runs on a device that is not in the
// expect: rhs
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on<keel::simulated>, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
