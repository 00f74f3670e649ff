// SPDX-License-Identifier: MIT
/// @file
/// main of tests that run on ranks and want a running Kokkos. MPI starts first and ends last.

#define DOCTEST_CONFIG_IMPLEMENT
#include <support/ranks.hpp>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  keel::test::ranks const world(argc, argv);
  Kokkos::initialize();
  int const failed = world.run(argc, argv);
  Kokkos::finalize();
  return failed;
}
