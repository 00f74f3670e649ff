// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The body of a routine whose kernel the test holds up: so it shows what waits for a device and what does not.

#include <keel/space/kokkos.hpp>

#include <atomic>
#include <chrono>

namespace test {

/// Lets the kernel go; and whether it gave up, after a while, so that a mistake is a failure.
inline std::atomic<bool> released{false}, gave_up{false};

/// Writes 1 to the first element of `X` when the host says so.
template <class X>
struct waits_for_host {
  template <class V>
  static void run(V v) {
    auto to = v(X{});
    auto *go = &released, *late = &gave_up;
    Kokkos::parallel_for("hold", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1), KOKKOS_LAMBDA(int i) {
      auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!go->load() && !late->load()) late->store(std::chrono::steady_clock::now() > end);
      to(i) = 1;
    });
  }
};

} // namespace test
