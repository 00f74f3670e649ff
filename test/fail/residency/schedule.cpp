// SPDX-License-Identifier: MIT
#include "heat.hpp"

#if defined(CHOICE_BY_TEXT)
// expect: it returns a bool for when, a number for choose
struct solver {
  static char const* holds(char const* which) { return which; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::choose<solver, advance, advance>> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}, "cg"); }
#elif defined(CHOICE_UNFILLED)
// expect: an entry of this schedule reads what only some entries of a choose before it leave valid
// expect: finds_its_ghosts<smooth, eta
struct solver {
  static int holds(int which) { return which; }
};
struct exchanging : kr::schedule<advance, kr::exchange<eta>> {};
struct step : kr::schedule<kr::cycle<eta>, kr::choose<solver, exchanging, advance>, smooth> {};
void use(kr::fields<app, eta>& f) { f.step(step{}, 1); }
#elif defined(SCHEDULE_OF_NOTHING)
// expect: keel::residency::every: fewer than one (it counts steps)
// expect: keel::residency::repeat: a negative number
// expect: the condition's holds(...) takes neither these arguments nor fewer of them
// expect: keel::residency::choose: no entries
// errors: 4
struct never : kr::schedule<kr::every<0, advance>> {};
struct less : kr::schedule<kr::repeat<-1, advance>> {};
struct none : kr::schedule<kr::choose<advance>> {};
struct is_rough {
  static bool holds(char const*);
};
struct step : kr::schedule<kr::cycle<eta>, kr::when<is_rough, advance>> {};
kr::entry const& first = never::about;
kr::entry const& second = less::about;
kr::entry const& third = none::about;
void use(kr::fields<two_memories, eta>& f) { f.step(step{}, 1.5); }
#elif defined(GRAPH_ASKS_HOST)
// expect: keel::residency::graph: an entry that the host has to be asked for each time
// expect: recorded<output>
struct step : kr::schedule<kr::graph<kr::cycle<eta>, advance, output>> {};
kr::entry const& first = step::about;
#elif defined(ALL_REDUCE_OF_A_GRID)
// expect: keel::residency::all_reduce: a variable of which each rank has a part, or a scratch
// expect: all_reduce<
struct step : kr::schedule<kr::all_reduce<keel::machine::minimum, eta>> {};
kr::entry const& first = step::about;
#elif defined(GRAPH_OF_ANYTHING)
// expect: an argument of step or run that a routine of a graph takes cannot be compared
struct anything {
  ~anything() {}
};
struct shift : kr::routine<"shift", kr::on_device, kr::updates<eta>> {
  template <class V>
  static void run(V, anything const&) {}
};
struct step : kr::graph<shift> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}, anything{}); }
#elif defined(COPIES_ASSERTED)
// expect: the core stays on the device
struct step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<eta>, smooth, kr::every<10, output>> {};
using plan = kr::plan<two_memories, step, keel::simulated>;
static_assert(plan::copies(kr::host, kr::device, kr::core) == 0);
static_assert(plan::copies(kr::device, kr::host, kr::core) == 0, "the core stays on the device");
#elif defined(PIECES_OF_A_SUM)
// expect: a routine writes more or less than the owned cells of variables on the grid
struct mean : kr::variable<"mean", double> {};
struct add_up : kr::routine<"add_up", kr::on_device, kr::in_pieces, kr::reads<eta>, kr::updates<mean>>, idle {};
struct step : kr::schedule<add_up, kr::exchange<eta>> {};
void use(kr::fields<app, eta, mean>& f) { f.step(step{}); }
#elif defined(PIECES_RETURNING)
// expect: a routine's run returns a value
struct smoothed : kr::routine<"smoothed", kr::on_device, kr::in_pieces, kr::writes<eta>> {
  template <class V>
  static double run(V) {
    return 1;
  }
};
struct step : kr::schedule<smoothed, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
#else
struct solver {
  enum class kind { plain, smoothed };
  static kind holds() { return kind::plain; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::choose<solver, advance, advance>, kr::exchange<eta>, smooth,
                           kr::every<10, output>> {};
static_assert(kr::plan<two_memories, step, keel::simulated>::copies(kr::host, kr::device, kr::core) == 0);
void use(kr::fields<two_memories, eta>& f) { f.step(step{}); }
struct made : kr::routine<"made", kr::on_device, kr::in_pieces, kr::writes<eta>>, idle {};
struct cut_step : kr::schedule<made, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(cut_step{}); }
#endif
