// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages by NCCL or RCCL.

#include <keel/exchange/transport.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

/// By NCCL or RCCL, whose library is loaded at the start if the loader finds it.
class nccl {
public:
  static constexpr std::string_view name = "nccl";
  static constexpr bool reaches_device_memory = true, is_ordered_by_queue = true;
  explicit nccl(messenger const& ranks) : messages_(ranks) {}

  /// Collective over all ranks of the messenger.
  [[nodiscard]] std::vector<std::string> connect(queue const& by, std::span<int const> ranks);
  void begin(queue const& by, std::span<message const> sends, std::span<message const> receives);
  void finish(queue const& by);

private:
  struct library;
  struct group;
  void require(int code) const;

  messenger messages_;
  std::shared_ptr<group> group_;
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/nccl.ipp>
#endif
