// SPDX-License-Identifier: MIT
// expect: data cannot be overwritten through a view of const elements
// errors: 1
#include "heat.hpp"

using constant = Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace>;
void use(kr::fields<app, eta>& f, constant const& v) { f.require_invalid_data(v); }
