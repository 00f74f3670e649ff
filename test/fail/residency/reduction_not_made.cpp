// SPDX-License-Identifier: MIT
// expect: an entry of this schedule reads the value of a reduction that is made after it
// expect: finds_its_value<advance_by, dt
// errors: 1
#include "reductions.hpp"

struct step : kr::schedule<advance_by, dt> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
