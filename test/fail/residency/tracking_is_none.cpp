// SPDX-License-Identifier: MIT
// expect: the tracking of the application's policy is no tracking
// expect: tracking_of<untracked>
// errors: 1
#include "heat.hpp"

struct untracked : app {
  using tracking = kr::on_host;
};
void use(kr::fields<untracked, eta>& f) { f.run(kr::exchange<eta>{}); }
