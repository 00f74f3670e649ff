// SPDX-License-Identifier: MIT
// expect: keel::residency::every: fewer than one (it counts steps)
// expect: keel::residency::repeat: a negative number
// expect: the condition's holds(...) takes neither these arguments nor fewer of them
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**, kr::levels<2>> {};
struct advance : kr::routine<"advance", kr::on_device, kr::reads<kr::owned<kr::past<eta, 1>>>, kr::writes<eta>> {
  template <class V>
  static void run(V) {}
};
struct smooth : kr::routine<"smooth", kr::on_device, kr::reads<eta>> {
  template <class V>
  static void run(V) {}
};
struct output : kr::routine<"output", kr::on_host, kr::reads<kr::owned<eta>>> {
  template <class V>
  static void run(V) {}
};
struct never : kr::schedule<kr::every<0, advance>> {};
struct less : kr::schedule<kr::repeat<-1, advance>> {};
struct is_rough {
  static bool holds(char const*);
};
struct step : kr::schedule<kr::cycle<eta>, kr::when<is_rough, advance>> {};
kr::entry const& first = never::about;
kr::entry const& second = less::about;
void use(kr::fields<app, eta>& f) { f.step(step{}, 1.5); }
