// SPDX-License-Identifier: MIT
#include "heat.hpp"
#include <array>

struct timestep : kr::routine<"timestep", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>> {
  template <class V>
  static double run(V v) {
    return v(kr::past<eta, 1>{})(0, 0);
  }
};
struct dt : kr::reduce<"dt", keel::machine::minimum, timestep> {};

struct by_value {
  template <class V>
  static void run(V v) {
    v(eta{})(0, 0) = v(dt{});
  }
};
struct advance_by : kr::routine<"advance_by", kr::on_device, kr::writes<eta>, kr::reads<dt>>, by_value {};

#if defined(CHOICE_WITHOUT_VALUE)
// expect: reads the value of a reduction that is made after it, or only by some entries of a choose
// expect: finds_its_value<advance_by, dt
struct solver {
  static int holds(int which) { return which; }
};
struct step : kr::schedule<kr::choose<solver, dt, advance>, advance_by> {};
void use(kr::fields<app, eta>& f) { f.step(step{}, 1); }
#elif defined(NOT_MADE)
// expect: an entry of this schedule reads the value of a reduction that is made after it
// expect: finds_its_value<advance_by, dt
struct step : kr::schedule<advance_by, dt> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#elif defined(OF_ANOTHER_TYPE)
// expect: a routine's run returns another type than the parts of its reduction have
struct count : kr::routine<"count", kr::on_host> {
  template <class V>
  static int run(V) {
    return 1;
  }
};
struct step : kr::schedule<kr::reduce<"counted", keel::machine::plain_sum, count>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#elif defined(OF_WHOLE_ARRAYS)
// expect: the operation of a reduction does not combine two parts
using pair = std::array<double, 2>;
struct larger {
  pair operator()(pair const& a, pair const& b) const { return a[0] < b[0] ? b : a; }
};
struct find : kr::routine<"find", kr::on_host> {
  using value_type = pair;
  template <class V>
  static pair run(V) {
    return {1, 2};
  }
};
struct step : kr::schedule<kr::reduce<"found", larger, find>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#elif defined(UNDECLARED)
// expect: a routine asks for the value of a reduction, or an argument, that it does not declare
struct forgets : kr::routine<"forgets", kr::on_device, kr::writes<eta>>, by_value {};
void use(kr::fields<app, eta>& f) { f.run(forgets{}); }
#elif defined(WRITTEN)
// expect: a clause writes or updates the value of a reduction
struct sets : kr::routine<"sets", kr::on_host, kr::writes<dt>>, idle {};
void use(kr::fields<app, eta>& f) { f.run(sets{}); }
#else
struct is_small {
  using reads = kr::reads<dt>;
  static bool holds(double step) { return step < 1; }
};
struct step : kr::schedule<kr::cycle<eta>, dt, advance_by, kr::when<is_small, output>> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}); }
#endif
