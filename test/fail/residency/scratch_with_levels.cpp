// SPDX-License-Identifier: MIT
// expect: keel::residency::scratch: a scratch with levels of the past
// expect: flux
// errors: 1
#include "heat.hpp"

struct flux : kr::scratch<"flux", double**, kr::levels<2>> {};
flux const one;
