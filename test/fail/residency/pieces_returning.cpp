// SPDX-License-Identifier: MIT
// expect: a routine's run returns a value
// errors: 1
#include "heat.hpp"

struct smoothed : kr::routine<"smoothed", kr::on_device, kr::in_pieces, kr::writes<eta>> {
  template <class V>
  static double run(V) {
    return 1;
  }
};
struct step : kr::schedule<smoothed, kr::exchange<eta>> {};
void use(kr::fields<app, eta>& f) { f.step(step{}); }
