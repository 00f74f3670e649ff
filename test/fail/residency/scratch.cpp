// SPDX-License-Identifier: MIT
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**> {};
struct fill : kr::routine<"fill", kr::on_device, kr::writes<flux>>, idle {};

#if defined(CYCLED)
// expect: keel::residency: a scratch is cycled or rewound
// expect: flux
struct step : kr::schedule<fill, kr::cycle<eta, flux>> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
#elif defined(IN_OUTPUT)
// expect: keel::residency: an output asks for a scratch
// expect: flux
struct dump : kr::output<"dump"> {
  template <class V>
  static void run(V v) {
    (void)v(flux{});
  }
};
struct step : kr::schedule<fill, dump> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
#elif defined(IN_TWO_MEMORIES)
// expect: an entry of this schedule reads a scratch in another memory than that where it was written
// expect: finds_its_scratch<spend, flux
struct spend : kr::routine<"spend", kr::on_host, kr::reads<kr::owned<flux>>>, idle {};
struct step : kr::schedule<fill, spend> {};
void use(kr::fields<two_memories, eta, flux>& f) { f.step(step{}); }
#elif defined(RUN_UNWRITTEN)
// expect: reads a scratch that has not been written before it, or only by entries that may not run
// expect: finds_its_scratch<spend, flux
struct spend : kr::routine<"spend", kr::on_device, kr::updates<flux>>, idle {};
void use(kr::fields<app, eta, flux>& f) { f.run(spend{}); }
#elif defined(UNWRITTEN)
// expect: reads a scratch that has not been written before it, or only by entries that may not run
// expect: finds_its_scratch<spend, flux
struct spend : kr::routine<"spend", kr::on_device, kr::reads<kr::owned<flux>>>, idle {};
struct step : kr::schedule<kr::every<2, fill>, spend> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
#elif defined(WITH_LEVELS)
// expect: keel::residency::scratch: a scratch with levels of the past
// expect: flux
struct deep_flux : kr::scratch<"flux", double**, kr::levels<2>> {};
deep_flux const one;
#else
struct spend : kr::routine<"spend", kr::on_device, kr::reads<kr::owned<flux>>>, idle {};
struct step : kr::schedule<fill, spend> {};
void use(kr::fields<app, eta, flux>& f) { f.step(step{}); }
#endif
