// SPDX-License-Identifier: MIT
// expect: copy_from_past of a variable that has only one level
// errors: 1
#include "heat.hpp"

void use(kr::fields<app, du>& f) { f.copy_from_past<du>(); }
