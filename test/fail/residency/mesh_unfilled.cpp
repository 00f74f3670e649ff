// SPDX-License-Identifier: MIT
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<flux, h
// errors: 1
#include "meshes.hpp"

struct flux : kr::routine<"flux", kr::on_device, kr::reads<kr::layer<kr::past<h, 1>, 1>>, kr::writes<h>>, idle {};
struct step : kr::schedule<kr::cycle<h>, flux> {};
void use(kr::fields<app, h, un>& f) { f.step(step{}); }
