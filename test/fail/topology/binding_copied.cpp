// SPDX-License-Identifier: MIT
// expect: deleted
#include <keel/topology.hpp>

void twice(keel::topology::binding const& once) {
  keel::topology::binding again{once}; // what would undo it?
}
