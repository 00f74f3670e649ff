// SPDX-License-Identifier: MIT
// expect: repartition gets two partitions of one mesh
// errors: 1
#include "meshes.hpp"

void use(kr::fields<app, h, un>& f, kr::partition<cells> const& c) { f.repartition(c, c); }
