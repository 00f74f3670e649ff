// SPDX-License-Identifier: MIT
// expect: a routine's run returns another type than the parts of its reduction have
// errors: 1
#include "reductions.hpp"

struct count : kr::routine<"count", kr::on_host> {
  template <class V>
  static int run(V) {
    return 1;
  }
};
struct step : kr::schedule<kr::reduce<"counted", keel::machine::plain_sum, count>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
