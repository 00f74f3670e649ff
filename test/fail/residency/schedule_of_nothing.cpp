// SPDX-License-Identifier: MIT
// expect: keel::residency::every: fewer than one (it counts steps)
// expect: keel::residency::repeat: a negative number
// expect: the condition's holds(...) takes neither these arguments nor fewer of them
// expect: keel::residency::choose: no entries
// errors: 4
#include "heat.hpp"

struct never : kr::schedule<kr::every<0, advance>> {};
struct less : kr::schedule<kr::repeat<-1, advance>> {};
struct none : kr::schedule<kr::choose<advance>> {};
struct is_rough {
  static bool holds(char const*);
};
struct step : kr::schedule<kr::cycle<eta>, kr::when<is_rough, advance>> {};
kr::entry const& first = never::about;
kr::entry const& second = less::about;
kr::entry const& third = none::about;
void use(kr::fields<two_memories, eta>& f) { f.step(step{}, 1.5); }
