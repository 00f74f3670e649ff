// SPDX-License-Identifier: MIT
// expect: keel::space::pool: the upstream is not a memory space
#include <keel/space.hpp>

int main() { keel::space::pool<int> const space; }
