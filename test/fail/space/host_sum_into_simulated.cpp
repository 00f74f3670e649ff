// SPDX-License-Identifier: MIT
// expect: reduce result must be a View
#include <keel/space.hpp>

int main() {
  Kokkos::View<double, keel::space::simulated_memory> const sum("sum");
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 10), KOKKOS_LAMBDA(int i, double& s) { s += i; }, sum);
}
