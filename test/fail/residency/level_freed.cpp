// SPDX-License-Identifier: MIT
// expect: reads a level that is valid nowhere, because a cycle or a rewind freed it
// expect: finds_its_ghosts<output, eta
// errors: 1
#include "heat.hpp"

struct step : kr::schedule<kr::cycle<eta>, output> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
