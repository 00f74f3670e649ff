// SPDX-License-Identifier: MIT
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: or read owned only.
// expect: finds_its_ghosts<rhs, eta
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta>>, from_past<eta> {};
struct step : kr::schedule<kr::cycle<eta>, rhs> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
