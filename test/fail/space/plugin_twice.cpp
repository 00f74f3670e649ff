// SPDX-License-Identifier: MIT
// expect: keel::space::plugins: a plug-in stands in the list twice
#include <keel/space.hpp>

int main() { keel::space::plugins<keel::space::simulated::plugin, keel::space::simulated::plugin>::enroll(); }
