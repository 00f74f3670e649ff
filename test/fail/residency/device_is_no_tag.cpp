// SPDX-License-Identifier: MIT
// expect: names what is no tag of a device
// expect: checked_tag<Kokkos::HostSpace>
// errors: 1
#include <keel/machine/alone.hpp>
#include <keel/residency.hpp>

namespace kr = keel::residency;

template <class Tag, class... Tags>
Tag first_of(keel::list<Tag, Tags...>);
struct app {
  using devices = keel::list<decltype(first_of(keel::where_supported<keel::list<keel::serial, keel::openmp>>{})), Kokkos::HostSpace>;
  using ranks = keel::machine::alone;
  using tracking = kr::automatic;
  using layout = Kokkos::LayoutRight;
};
struct eta : kr::variable<"eta", double**> {};
void use(kr::fields<app, eta>& f) { f.run(kr::exchange<eta>{}); }
