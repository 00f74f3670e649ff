// SPDX-License-Identifier: MIT
// expect: the core stays on the device
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
struct step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<eta>, smooth, kr::every<10, output>> {};
using plan = kr::plan<app, step, keel::simulated>;
static_assert(plan::copies(kr::host, kr::device, kr::core) == 0);
static_assert(plan::copies(kr::device, kr::host, kr::core) == 0, "the core stays on the device");
