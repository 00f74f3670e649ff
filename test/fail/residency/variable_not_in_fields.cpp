// SPDX-License-Identifier: MIT
// expect: names a variable that these fields do not have
// expect: is_in_fields<du
// expect: rhs
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
