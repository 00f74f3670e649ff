// SPDX-License-Identifier: MIT
// expect: a routine asks for the value of a reduction that it does not declare
// errors: 1
#include "reductions.hpp"

struct forgets : kr::routine<"forgets", kr::on_device, kr::writes<eta>>, by_value {};
void use(kr::fields<app, eta>& f) { f.run(forgets{}); }
