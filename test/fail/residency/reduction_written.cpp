// SPDX-License-Identifier: MIT
// expect: a clause writes or updates the value of a reduction
// errors: 1
#include "reductions.hpp"

struct sets : kr::routine<"sets", kr::on_host, kr::writes<dt>>, idle {};
void use(kr::fields<app, eta>& f) { f.run(sets{}); }
