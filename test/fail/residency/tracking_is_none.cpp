// SPDX-License-Identifier: MIT
// expect: the tracking of the application's policy is no tracking
// expect: tracking_of<app>
// errors: 1
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp>>;
  using ranks = keel::machine::alone;
  using tracking = kr::on_host;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta>& f) { f.run(kr::exchange<eta>{}); }
