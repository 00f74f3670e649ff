// SPDX-License-Identifier: MIT
// expect: copy_from_past of a variable that has one level alone
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
void use(kr::fields<app, eta>& f) { f.copy_from_past<eta>(); }
