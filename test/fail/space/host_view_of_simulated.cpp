// SPDX-License-Identifier: MIT
// expect: HostSpace
// expect: simulated_resource
#include <keel/space.hpp>

int main() {
  Kokkos::View<double*, keel::space::simulated_memory> const far("far", 10);
  Kokkos::View<double*, Kokkos::HostSpace> host = far;
}
