// SPDX-License-Identifier: MIT
// expect: reads ghosts that no exchange has filled since their owners wrote
// expect: finds_its_ghosts<smooth
#include "heat.hpp"

struct is_rough {
  static bool holds() { return true; }
};
struct step : kr::schedule<kr::cycle<eta>, kr::repeat<2, advance>, kr::when<is_rough, kr::every<3, smooth>>,
                           kr::exchange<eta>> {};
void use(kr::fields<two_memories, eta>& f) { f.step(step{}); }
