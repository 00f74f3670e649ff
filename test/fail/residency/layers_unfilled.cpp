// SPDX-License-Identifier: MIT
// expect: reads more layers of ghosts than were filled since their owners wrote
// expect: finds_its_ghosts<filter, eta
// expect: first_step
// expect: second_step
// errors: 2
#include "heat.hpp"

struct filter : kr::routine<"filter", kr::on_device, kr::reads<kr::depth<2, eta>>, kr::writes<du>>, idle {};
struct first_step : kr::schedule<advance, kr::exchange<kr::depth<1, eta>>, filter> {};
struct second_step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<kr::depth<1, eta>>, filter> {};
void use(kr::fields<app, eta, du>& f) {
  f.step(first_step{});
  f.step(second_step{});
}
