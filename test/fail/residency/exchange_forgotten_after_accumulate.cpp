// SPDX-License-Identifier: MIT
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<show, du
// errors: 1
#include "heat.hpp"

struct scatter : kr::routine<"scatter", kr::on_device, kr::writes<kr::everywhere<du>>>, idle {};
struct show : kr::routine<"show", kr::on_host, kr::reads<du>>, idle {};
struct step : kr::schedule<scatter, kr::accumulate<du>, show> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
