// SPDX-License-Identifier: MIT
// expect: the destinations of migrate are no view of int in one dimension
// errors: 1
#include "meshes.hpp"

void use(kr::fields<app, h, un>& f, Kokkos::View<double*> const& ranks) { f.migrate(cells{}, ranks); }
