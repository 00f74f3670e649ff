// SPDX-License-Identifier: MIT
/// @file
/// main of tests that need neither Kokkos nor MPI.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
