// SPDX-License-Identifier: MIT
// expect: reads a scratch that has not been written before it, or only by entries that may not run
// expect: finds_its_scratch<spend, flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct spend : kr::routine<"spend", kr::on_device, kr::updates<flux>>, idle {};
void use(kr::fields<app, eta, flux>& f) { f.run(spend{}); }
