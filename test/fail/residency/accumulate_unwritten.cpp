// SPDX-License-Identifier: MIT
// expect: an accumulate of this schedule adds ghosts that were not written since their owners wrote
// expect: finds_its_ghosts<keel::residency::accumulate<du>, du
// errors: 1
#include "heat.hpp"

struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>, kr::writes<du>>, from_past<> {};
struct step : kr::schedule<rhs, kr::accumulate<du>> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
