// SPDX-License-Identifier: MIT
// expect: a condition at walls does not take one of its arguments
// expect: sign<-1>
// errors: 1
#include "heat.hpp"

void use(kr::fields<app, du>& f) { f.run(kr::outflow<du, kr::sign<-1>>{}); }
