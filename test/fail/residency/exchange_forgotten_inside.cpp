// SPDX-License-Identifier: MIT
// expect: reads ghosts that nobody has filled since their owners wrote
// expect: finds_its_ghosts<smooth
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
struct is_rough {
  static bool holds() { return true; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::repeat<2, advance>, kr::when<is_rough, kr::every<3, smooth>>, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
