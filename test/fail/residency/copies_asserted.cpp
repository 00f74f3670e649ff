// SPDX-License-Identifier: MIT
// expect: the core stays on the device
#include "heat.hpp"

struct step : kr::schedule<kr::cycle<eta>, advance, kr::exchange<eta>, smooth, kr::every<10, output>> {};
using plan = kr::plan<two_memories, step, keel::simulated>;
static_assert(plan::copies(kr::host, kr::device, kr::core) == 0);
static_assert(plan::copies(kr::device, kr::host, kr::core) == 0, "the core stays on the device");
