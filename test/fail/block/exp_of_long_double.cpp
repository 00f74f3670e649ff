// SPDX-License-Identifier: MIT
// expect: exp and log take packs of double or float
#include <keel/block.hpp>

int main() { return exp(keel::block::pack<long double, 4>::filled(1))[0] > 0; }
