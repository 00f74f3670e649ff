// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages by an MPI that reaches the memory of a device.

#include <keel/exchange/transport.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// By an MPI that reaches the memory of the device. It has to say so of itself, and then messages of two sizes have to
/// arrive as they were sent, between each two ranks that exchange.
class direct : public staged {
public:
  static constexpr std::string_view name = "direct";
  static constexpr bool reaches_device_memory = true;
  using staged::staged;

  [[nodiscard]] std::vector<std::string> connect(queue const& by, std::span<int const> ranks);
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/direct.ipp>
#endif
