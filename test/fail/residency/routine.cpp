// SPDX-License-Identifier: MIT
#include "heat.hpp"

#if defined(ARGUMENTS_NOT_TAKEN)
// expect: keel::residency: a routine's run(v, ...) takes neither
// expect: rhs
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V, double); // its body may stand in another source
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#elif defined(CLAUSE_OF_NO_VARIABLE)
// expect: a clause of a routine names what is no variable, nor a part of one
// expect: reads<app>
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<app>, kr::writes<eta>>, idle {};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
#elif defined(COMPILED_OF_TWO_RUNS)
// expect: keel::residency::compiled: a routine's run is not one template of one type
// expect: rhs
struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {
  template <class V>
  static void run(V) {}
  template <class V>
  static void run(V, double) {}
};
template struct kr::compiled<app, rhs>;
#elif defined(DEVICE_NOT_IN_LIST)
// expect: a routine runs on a device that is not in the
// expect: rhs
struct rhs : kr::routine<"rhs", kr::on<keel::simulated>, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#elif defined(LEVEL_TOO_FAR)
// expect: keel::residency::past: the variable has no such level
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 2>>, kr::writes<du>>, idle {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#elif defined(RUN_MISSING)
// expect: a routine has no run
// expect: names_run<rhs>
struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {};
void use(kr::fields<app, eta>& f) { f.run(rhs{}); }
#elif defined(RUN_NOT_STATIC)
// expect: a routine's run is not static
// expect: run_takes<rhs
struct rhs : kr::routine<"rhs", kr::on_device, kr::writes<eta>> {
  template <class V>
  void run(V, double) {}
};
void use(kr::fields<app, eta>& f) { f.run(rhs{}, 1.0); }
#elif defined(UNDECLARED_LEVEL)
// expect: keel::residency: a routine reaches a variable
// expect: rhs
// expect: eta
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    v(du{})(0, 0) = v(eta{})(0, 0);
  }
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#elif defined(UNDECLARED_VARIABLE)
// expect: keel::residency: a routine reaches a variable
// expect: rhs
// expect: declares<rhs, du>
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>>, from_past<> {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#elif defined(WRITTEN_WHERE_READ)
// expect: read-only
// errors: 2
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>> {
  template <class V>
  static void run(V v) {
    v(kr::past<eta, 1>{})(0, 0) = 1;
  }
};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
#else
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
void use(kr::fields<app, eta, du>& f) { f.run(rhs{}); }
template struct kr::compiled<app, rhs>;
template struct kr::compiled<two_memories, smooth>;
#endif
