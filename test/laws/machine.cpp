// SPDX-License-Identifier: MIT
#include <laws/machine_ranks.hpp>

#include <keel/machine/simulated.hpp>

namespace km = keel::machine;

TEST_CASE("machine: MPI's ranks keep the laws") { keel::laws::ranks_are_sound<km::mpi>(); }

TEST_CASE("machine: one rank alone keeps the laws") { keel::laws::ranks_are_sound<km::alone>(); }

TEST_CASE("machine: simulated ranks keep the laws, whichever the process is") {
  using small = km::simulated<3, 4>;
  for (int rank = 0; rank != small::ranks; ++rank) {
    small::as const playing{rank};
    keel::laws::ranks_are_sound<small>();
  }
  keel::laws::ranks_are_sound<km::simulated<1000, 1000>>();
}
