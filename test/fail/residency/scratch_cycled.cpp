// SPDX-License-Identifier: MIT
// expect: keel::residency: a scratch is cycled or rewound
// expect: flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<flux>>, idle {};
struct step : kr::schedule<fill, kr::cycle<eta, flux>> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
