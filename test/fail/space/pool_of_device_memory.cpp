// SPDX-License-Identifier: MIT
// expect: keel::space::pool: host code may not touch the upstream
#include <keel/space.hpp>

int main() { keel::space::pool<keel::space::simulated_memory> const space; }
