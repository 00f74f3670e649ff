// SPDX-License-Identifier: MIT
/// @file
/// Shows that headers, flags and library of the Kokkos that was found fit: one kernel, one number.

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  double sum = 0;
  Kokkos::parallel_reduce(2, KOKKOS_LAMBDA(int i, double& partial) { partial += i; }, sum);
  Kokkos::finalize();
  return sum == 1 ? 0 : 1;
}
