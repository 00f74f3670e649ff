// SPDX-License-Identifier: MIT
// expect: keel::space::shared: these ranks cannot agree on an allocation
#include <keel/machine/simulated.hpp>
#include <keel/space.hpp>

int main() { keel::space::shared<keel::machine::simulated<2, 4>> const space; }
