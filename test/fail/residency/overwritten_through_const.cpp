// SPDX-License-Identifier: MIT
// expect: data cannot be overwritten through a view of const elements
// errors: 1
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

struct app {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp>>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta>& f, Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace> const& v) { f.require_invalid_data(v); }
