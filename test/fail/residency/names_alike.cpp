// SPDX-License-Identifier: MIT
// expect: keel::residency::fields: two variables have one name
#include "heat.hpp"

struct other : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta, other>& f) { f.run(kr::exchange<eta>{}); }
