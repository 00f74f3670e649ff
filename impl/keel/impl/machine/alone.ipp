// SPDX-License-Identifier: MIT
#include <keel/machine/alone.hpp>
#include <keel/impl/machine/launcher.hpp>

namespace keel::machine {

KEEL_INLINE bool alone::start(int*, char***, thread_level) {
#if !KEEL_WITH_MPI
  if (auto const said = detail::said_by_launcher(); said && said->ranks > 1)
    throw detail::each_alone(*said, ", and this keel was built without MPI",
                             "Start it with a keel that was built with -Dmpi=enabled");
#endif
  return false;
}

} // namespace keel::machine
