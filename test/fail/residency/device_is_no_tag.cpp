// SPDX-License-Identifier: MIT
// expect: names what is no tag of a device
// expect: is_tag<Kokkos::HostSpace>
// errors: 1
#include "heat.hpp"

template <class Tag, class... Tags>
Tag first_of(keel::list<Tag, Tags...>);
struct stranger : app {
  using devices = keel::list<decltype(first_of(app::devices{})), Kokkos::HostSpace>;
};
void use(kr::fields<stranger, eta>& f) { f.run(kr::exchange<eta>{}); }
