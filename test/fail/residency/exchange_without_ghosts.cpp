// SPDX-License-Identifier: MIT
// expect: keel::residency::exchange: a variable without ghosts
// expect: filled<mean
// expect: filled<mask
// errors: 2
#include "heat.hpp"

struct mean : kr::variable<"mean", double*, kr::off_grid> {};
struct mask : kr::variable<"mask", double**, kr::without_ghosts> {};
void use(kr::fields<app, mean, mask>& f) { f.run(kr::exchange<mean, mask>{}); }
