// SPDX-License-Identifier: MIT
// expect: keel::residency: an output asks for a scratch
// expect: flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<flux>>, idle {};
struct dump : kr::output<"dump"> {
  template <class V>
  static void run(V v) {
    (void)v(flux{});
  }
};
struct step : kr::schedule<fill, dump> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
