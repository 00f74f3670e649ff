// SPDX-License-Identifier: MIT
// expect: keel::residency::off: the list has a device with memory of its own
#include "heat.hpp"

struct untracked : two_memories {
  using tracking = kr::off;
};
struct rhs : kr::routine<"rhs", kr::on_device, kr::reads<kr::past<eta, 1>>, kr::writes<du>>, from_past<> {};
void use(kr::fields<untracked, eta, du>& f) { f.run(rhs{}); }
