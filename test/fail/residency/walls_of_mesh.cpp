// SPDX-License-Identifier: MIT
// expect: a condition at walls is given for a variable that has none
// expect: wall_part<h
// errors: 1
#include "heat.hpp"

struct cells : kr::mesh<"cells"> {};
struct h : kr::variable<"h", double*, kr::on_mesh<cells>> {};
void use(kr::fields<app, h>& f) { f.run(kr::mirror<h>{}); }
