// SPDX-License-Identifier: MIT
#include <keel/space/simulated.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using keel::space::simulated;

TEST_CASE("space: a caller that never fences comes a bounded number of kernels ahead of the simulated device") {
  using range = Kokkos::RangePolicy<simulated>;
  constexpr int count = 10'000;
  simulated const space = simulated::new_instance();
  std::atomic<bool> go = false;
  std::atomic<int> launched = 0, ran = 0;
  Kokkos::parallel_for("waits", range(space, 0, 1), [&](int) {
    while (!go) std::this_thread::yield();
  });
  std::thread caller([&] {
    for (int n = 0; n < count; ++n, ++launched) Kokkos::parallel_for("counts", range(space, 0, 1), [&](int) { ++ran; });
  });
  for (int before = -1; before != launched;) {
    before = launched;
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
  }
  CHECK(launched > 1000);
  CHECK(launched <= int(keel::space::detail::queue::most_ahead));
  CHECK(ran == 0);
  go = true;
  caller.join();
  space.fence();
  CHECK(ran == count);
}
