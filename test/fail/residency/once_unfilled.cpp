// SPDX-License-Identifier: MIT
// What is set in the first step has no exchange, so the first step reads ghosts that nothing filled.
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<smooth, eta
// errors: 1
#include "heat.hpp"

struct step : kr::schedule<kr::once<advance>, smooth> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
