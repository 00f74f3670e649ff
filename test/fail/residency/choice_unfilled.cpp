// SPDX-License-Identifier: MIT
// expect: an entry of this schedule reads what only some entries of a choose before it leave valid
// expect: finds_its_ghosts<smooth, eta
// errors: 1
#include "heat.hpp"

struct solver {
  static int holds(int which) { return which; }
};
struct exchanging : kr::schedule<advance, kr::exchange<eta>> {};
struct step : kr::schedule<kr::cycle<eta>, kr::choose<solver, exchanging, advance>, smooth> {};
void use(kr::fields<app, eta>& f) { f.step(step{}, 1); }
