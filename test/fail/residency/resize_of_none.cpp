// SPDX-License-Identifier: MIT
// expect: resize gets an extra without variables
// errors: 1
#include "meshes.hpp"

void use(kr::fields<app, h, un>& f) { f.resize(kr::extra<>{10}); }
