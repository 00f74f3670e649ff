// SPDX-License-Identifier: MIT
// expect: keel::residency::exchange: the closure of a variable (only whole layers of ghosts are filled
// expect: face
// errors: 1
#include "heat.hpp"

struct face : kr::variable<"face", double**, kr::at<kr::face<0>>> {};
void use(kr::fields<app, face>& f) { f.run(kr::exchange<kr::closure<face>>{}); }
