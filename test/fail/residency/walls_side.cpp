// SPDX-License-Identifier: MIT
// expect: a condition at walls names a dimension that a variable does not have
// expect: on_side<3>
// errors: 1
#include "heat.hpp"

void use(kr::fields<app, du>& f) { f.run(kr::mirror<du, kr::on_side<3>>{}); }
