// SPDX-License-Identifier: MIT
// expect: reads the value of a reduction that is made after it, or only by some entries of a choose
// expect: finds_its_value<advance_by, dt
// errors: 1
#include "reductions.hpp"

struct solver {
  static int holds(int which) { return which; }
};
struct step : kr::schedule<kr::choose<solver, dt, advance>, advance_by> {};
void use(kr::fields<app, eta>& f) { f.step(step{}, 1); }
