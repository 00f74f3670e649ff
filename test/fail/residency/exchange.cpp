// SPDX-License-Identifier: MIT
#include "heat.hpp"

struct mean : kr::variable<"mean", double*, kr::off_grid> {};

#if defined(CLOSURE_EXCHANGED)
// expect: keel::residency::exchange: the closure of a variable (only whole layers of ghosts are filled
// expect: face
struct face : kr::variable<"face", double**, kr::at<kr::face<0>>> {};
void use(kr::fields<app, face>& f) { f.run(kr::exchange<kr::closure<face>>{}); }
#elif defined(FORGOTTEN)
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: or read owned only.
// expect: finds_its_ghosts<rhs, eta
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<eta>>, from_past<eta> {};
struct step : kr::schedule<kr::cycle<eta>, rhs> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
#elif defined(FORGOTTEN_INSIDE)
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<smooth
struct is_rough {
  static bool holds() { return true; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::repeat<2, advance>, kr::when<is_rough, kr::every<3, smooth>>,
                           kr::exchange<eta>> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}); }
#elif defined(WITHOUT_GHOSTS)
// expect: keel::residency::exchange: a variable without ghosts
// expect: filled<mean
// expect: filled<mask
// errors: 2
struct mask : kr::variable<"mask", double**, kr::without_ghosts> {};
void use(kr::fields<app, mean, mask>& f) { f.run(kr::exchange<mean, mask>{}); }
#elif defined(LAYERS_UNFILLED)
// expect: reads more layers of ghosts than were filled since their owners wrote
// expect: finds_its_ghosts<filter, eta
// expect: first_step
// expect: second_step
// errors: 2
struct filter : kr::routine<"filter", kr::on_device, kr::reads<kr::depth<2, eta>>, kr::writes<du>>, idle {};
struct first_step : kr::schedule<advance, kr::exchange<kr::depth<1, eta>>, filter> {};
struct second_step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<kr::depth<1, eta>>, filter> {};
void use(kr::fields<app, eta, du>& f) {
  f.step(first_step{});
  f.step(second_step{});
}
#elif defined(LEVEL_FREED)
// expect: reads a level that is valid nowhere, because a cycle or a rewind freed it
// expect: finds_its_ghosts<output, eta
struct step : kr::schedule<kr::cycle<eta>, output> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#elif defined(ONCE_UNFILLED)
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<smooth, eta
// What is set in the first step has no exchange, so the first step reads ghosts that nothing filled.
struct step : kr::schedule<kr::once<advance>, smooth> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#else
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
struct step : kr::schedule<kr::cycle<eta>, kr::exchange<kr::past<eta, 1>>, rhs> {};
void use(kr::fields<app, eta, du>& f) { f.step(step{}); }
#endif
