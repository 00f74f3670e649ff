// SPDX-License-Identifier: MIT
// expect: an entry of this schedule reads a scratch in another memory than that where it was written
// expect: finds_its_scratch<spend, flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<flux>>, idle {};
struct spend : kr::routine<"spend", kr::on_host, kr::reads<kr::owned<flux>>>, idle {};
struct step : kr::schedule<fill, spend> {};
void use(kr::fields<two_memories, eta, flux>& f) { f.step(step{}); }
