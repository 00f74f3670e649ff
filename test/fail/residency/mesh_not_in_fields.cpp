// SPDX-License-Identifier: MIT
// expect: a variable lies on a mesh or a grid that these fields do not have
// expect: is_placed<un
// errors: 1
#include "meshes.hpp"

void use(a_run& run, kr::partition<cells> const& c) { kr::fields<app, h, un> f{run, c, kr::extra<h>{10}}; }
