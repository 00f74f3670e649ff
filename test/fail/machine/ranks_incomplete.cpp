// expect: Ranks
// SPDX-License-Identifier: MIT
#include <keel/machine.hpp>

struct pigeons {
  using handle = int;
  struct communicator {};
};

void use(keel::machine::basic_environment<pigeons>& world);
