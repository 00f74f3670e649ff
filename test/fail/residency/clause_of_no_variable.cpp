// SPDX-License-Identifier: MIT
// expect: a clause of a routine names what is no variable, nor a part of one
// expect: reads<app>
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<app>, kr::writes<eta>>, idle {};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
