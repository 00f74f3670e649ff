// SPDX-License-Identifier: MIT
// expect: a routine writes more or less than the owned cells of variables on the grid
// errors: 1
#include "heat.hpp"

struct mean : kr::variable<"mean", double> {};
struct add_up : kr::routine<"add_up", kr::on_device, kr::in_pieces, kr::reads<eta>, kr::updates<mean>>, idle {};
struct step : kr::schedule<add_up, kr::exchange<eta>> {};
void use(kr::fields<app, eta, mean>& f) { f.step(step{}); }
