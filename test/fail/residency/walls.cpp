// SPDX-License-Identifier: MIT
#include "heat.hpp"

struct mean : kr::variable<"mean", double*, kr::off_grid> {};

#if defined(ARGUMENT)
// expect: a condition at walls does not take one of its arguments
// expect: sign<-1>
void use(kr::fields<app, du>& f) { f.run(kr::outflow<du, kr::sign<-1>>{}); }
#elif defined(OF_MESH)
// expect: a condition at walls is given for a variable that has none
// expect: wall_part<h
struct cells : kr::mesh<"cells"> {};
struct h : kr::variable<"h", double*, kr::on_mesh<cells>> {};
void use(kr::fields<app, h>& f) { f.run(kr::mirror<h>{}); }
#elif defined(SIDE)
// expect: a condition at walls names a dimension that a variable does not have
// expect: on_side<3>
void use(kr::fields<app, du>& f) { f.run(kr::mirror<du, kr::on_side<3>>{}); }
#elif defined(SIGNS)
// expect: keel::residency::mirror: too few or too many signs for a variable
// expect: wall_part<du
void use(kr::fields<app, du>& f) { f.run(kr::mirror<du, kr::sign<-1, 1, 1>>{}); }
#elif defined(UNFILLED)
// expect: a condition at walls of this schedule goes on along ghosts that no exchange has filled
// expect: finds_its_ghosts<keel::residency::mirror<eta>, eta
struct step : kr::schedule<kr::cycle<eta>, advance, kr::mirror<eta>, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#elif defined(WITHOUT_GHOSTS)
// expect: a condition at walls is given for a variable that has none
// expect: wall_part<mean
void use(kr::fields<app, mean>& f) { f.run(kr::fixed<mean>{}); }
#else
struct step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<eta>, kr::mirror<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#endif
