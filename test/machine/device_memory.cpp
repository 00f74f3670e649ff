// SPDX-License-Identifier: MIT
#include <keel/machine/device_memory.hpp>

#include <keel/machine/alone.hpp>

#include <doctest/doctest.h>

namespace {
[[maybe_unused]] int said_by_mpi = 0; // of CUDA
}

TEST_CASE("machine: without MPI nothing is out of the reach of messages") {
  CHECK(keel::machine::reaches_device_memory<keel::machine::alone>());
}

#if KEEL_WITH_MPI && defined(MPIX_CUDA_AWARE_SUPPORT)

/// In place of MPI's.
extern "C" int MPIX_Query_cuda_support(void) { return said_by_mpi; }

TEST_CASE("machine: messages reach the memory of a GPU where MPI says so") {
  CHECK_FALSE(keel::machine::reaches_device_memory<keel::machine::mpi>());
  said_by_mpi = 1;
  CHECK(keel::machine::reaches_device_memory<keel::machine::mpi>());
  said_by_mpi = 0;
}

#elif KEEL_WITH_MPI

TEST_CASE("machine: messages do not reach the memory of a GPU where MPI cannot be asked") {
  CHECK_FALSE(keel::machine::reaches_device_memory<keel::machine::mpi>());
}

#endif
