// SPDX-License-Identifier: MIT
// expect: names what is no tag of a device
// expect: checked_tag<Kokkos::Serial>
// errors: 1
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::list<keel::serial, Kokkos::Serial>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta>& f) { f.run(kr::exchange<eta>{}); }
