// SPDX-License-Identifier: MIT
// expect: a condition at walls is given for a variable that has none
// expect: wall_part<mean
// errors: 1
#include "heat.hpp"

struct mean : kr::variable<"mean", double*, kr::off_grid> {};
void use(kr::fields<app, mean>& f) { f.run(kr::fixed<mean>{}); }
