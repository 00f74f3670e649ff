// SPDX-License-Identifier: MIT
// expect: reads a scratch that has not been written before it, or only by entries that may not run
// expect: finds_its_scratch<spend, flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<flux>>, idle {};
struct spend : kr::routine<"spend", kr::on_device, kr::reads<kr::owned<flux>>>, idle {};
struct step : kr::schedule<kr::every<2, fill>, spend> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
