// SPDX-License-Identifier: MIT
#include <laws/machine_ranks.hpp>

namespace km = keel::machine;

TEST_CASE("machine: MPI's ranks keep the laws") { keel::laws::ranks_are_sound<km::mpi>(); }

TEST_CASE("machine: one rank alone keeps the laws") { keel::laws::ranks_are_sound<km::alone>(); }
