// SPDX-License-Identifier: MIT
// The bodies of ranks over MPI that need not be compiled with every source; apart from the others of machine, so that a
// program without MPI does not load its libraries.
#include <keel/policy/macros.hpp>
#if KEEL_WITH_MPI
#include <keel/impl/machine/mpi.hpp>
#endif
