// SPDX-License-Identifier: MIT
// expect: keel::residency::mirror: too few or too many signs for a variable
// expect: wall_part<du
// errors: 1
#include "heat.hpp"

void use(kr::fields<app, du>& f) { f.run(kr::mirror<du, kr::sign<-1, 1, 1>>{}); }
