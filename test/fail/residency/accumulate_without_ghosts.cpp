// SPDX-License-Identifier: MIT
// expect: keel::residency::accumulate: a variable without ghosts
// expect: summed<mean
// errors: 1
#include "heat.hpp"

struct mean : kr::variable<"mean", double*, kr::off_grid> {};
void use(kr::fields<app, mean>& f) { f.run(kr::accumulate<mean>{}); }
