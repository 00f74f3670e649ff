// SPDX-License-Identifier: MIT
// expect: it returns a bool for when, a number for choose
// errors: 1
#include "heat.hpp"

struct solver {
  static char const* holds(char const* which) { return which; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::choose<solver, advance, advance>> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}, "cg"); }
