// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// When a device runs what its queue was given.

#include <keel/space/kokkos.hpp>
#include <keel/impl/validity/device_span.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace keel::residency::detail {

/// Stores the time at which a queue comes to it.
struct time_mark {
  std::shared_ptr<std::atomic<std::int64_t>> time;
  void run() const {
    time->store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_release);
  }
};

/// Calls `f`, and returns when the device of `queue` runs what that gives to it. Null for a device that does not say:
/// today all but keel's own.
template <class Space, class F>
std::shared_ptr<device_span> time_on_device(Space const& queue, F const& f) {
  if constexpr (requires { Space::impl_runs_behind_caller; }) {
    auto const span = std::make_shared<device_span>();
    queue.impl_launch(time_mark{{span, &span->begin}});
    f();
    queue.impl_launch(time_mark{{span, &span->end}});
    return span;
  } else {
    f();
    return {};
  }
}

} // namespace keel::residency::detail
