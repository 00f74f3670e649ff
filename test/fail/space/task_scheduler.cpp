// SPDX-License-Identifier: MIT
// expect: keel::space: this execution space runs no task scheduler
// errors: 1
#include <keel/space.hpp>

#if defined(KOKKOS_ENABLE_TASKDAG)
int main() {
  using scheduler = Kokkos::TaskScheduler<keel::space::simulated>;
  scheduler const tasks(scheduler::memory_space(), 100000);
}
#else // Kokkos 5 has none at all
#error "keel::space: this execution space runs no task scheduler"
#endif
