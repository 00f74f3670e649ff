// SPDX-License-Identifier: MIT
#include <keel/machine/device_memory.hpp>

#include <keel/machine/alone.hpp>

#include <doctest/doctest.h>

TEST_CASE("machine: without MPI nothing is out of the reach of messages") {
  CHECK(keel::machine::reaches_device_memory<keel::machine::alone>());
}

TEST_CASE("machine: MPI says the same of device memory each time it is asked") {
  bool const can = keel::machine::reaches_device_memory<keel::machine::mpi>();
  CHECK(keel::machine::reaches_device_memory<keel::machine::mpi>() == can);
#if KEEL_WITH_MPI && defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() != 0) CHECK(can);
#elif KEEL_WITH_MPI
  CHECK_FALSE(can);
#endif
}
