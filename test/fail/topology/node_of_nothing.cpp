// SPDX-License-Identifier: MIT
// expect: no matching
#include <keel/topology.hpp>

int main() {
  keel::topology::node nothing;
  return int(nothing.cores().size());
}
