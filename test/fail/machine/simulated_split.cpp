// expect: CommunicatingRanks
// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

int main() {
  keel::machine::basic_environment<keel::machine::simulated<2, 4>> world;
  (void)world.split(0);
}
