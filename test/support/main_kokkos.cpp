// SPDX-License-Identifier: MIT
/// @file
/// main of tests that want a running Kokkos, with its default settings.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::initialize();
  int const failed = doctest::Context(argc, argv).run();
  Kokkos::finalize();
  return failed;
}
