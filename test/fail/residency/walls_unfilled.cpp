// SPDX-License-Identifier: MIT
// expect: a condition at walls of this schedule goes on along ghosts that no exchange has filled
// expect: finds_its_ghosts<keel::residency::mirror<eta>, eta
// errors: 1
#include "heat.hpp"

struct step : kr::schedule<kr::cycle<eta>, advance, kr::mirror<eta>, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
