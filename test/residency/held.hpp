// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Bodies of routines: one whose kernel the test holds up, to show what waits for a device and what does not, and a
/// plain copy.

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
    Kokkos::parallel_for("hold", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 1),
                         [=](int i) { // of a device of the host
                           auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                           while (!go->load() && !late->load()) late->store(std::chrono::steady_clock::now() > end);
                           to(i) = 1;
                         });
  }
};

/// Copies the first four elements of `From` to `To`.
template <class From, class To>
struct copies {
  template <class V>
  static void run(V v) {
    auto from = v(From{});
    auto to = v(To{});
    Kokkos::parallel_for(
        "take", Kokkos::RangePolicy<typename V::space>(v.execution_space(), 0, 4),
        KOKKOS_LAMBDA(int i) { to(i) = from(i); });
  }
};

} // namespace test
