// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// When a device ran a piece of its queue.

#include <atomic>
#include <cstdint>

namespace keel::residency::detail {

/// By the host's steady clock, and 0 until then. The queue shares it for as long as it may still run the piece.
struct device_span {
  std::atomic<std::int64_t> begin = 0, end = 0;
};

} // namespace keel::residency::detail
