// SPDX-License-Identifier: MIT
#include "heat.hpp"

struct scatter : kr::routine<"scatter", kr::on_device, kr::writes<kr::everywhere<du>>>, idle {};
struct show : kr::routine<"show", kr::on_host, kr::reads<du>>, idle {};
struct mean : kr::variable<"mean", double*, kr::off_grid> {};

#if defined(OF_STRUCTS)
// expect: keel::residency::accumulate: elements of a variable have no sum
// expect: summed<
struct pair {
  double first, second;
};
struct pairs : kr::variable<"pairs", pair**> {};
void use(kr::fields<app, pairs>& f) { f.run(kr::accumulate<pairs>{}); }
#elif defined(UNWRITTEN)
// expect: an accumulate of this schedule adds ghosts that were not written since their owners wrote
// expect: finds_its_ghosts<keel::residency::accumulate<du>, du
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>, kr::writes<du>>, from_past<> {};
struct step : kr::schedule<rhs, kr::accumulate<du>> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
#elif defined(WITHOUT_GHOSTS)
// expect: keel::residency::accumulate: a variable without ghosts
// expect: summed<mean
void use(kr::fields<app, mean>& f) { f.run(kr::accumulate<mean>{}); }
#elif defined(EXCHANGE_FORGOTTEN_AFTER_ACCUMULATE)
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<show, du
struct step : kr::schedule<scatter, kr::accumulate<du>, show> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
#else
struct step : kr::schedule<scatter, kr::accumulate<du>, kr::exchange<du>, show> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
#endif
