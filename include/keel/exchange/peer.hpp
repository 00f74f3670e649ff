// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages into memory of the other rank, over shared pages, NVLink or PCIe.

#include <keel/exchange/transport.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

namespace detail {
struct peer_links;
}

/// Into the other rank's memory, which this one has mapped: the kernel that packs writes there and then raises a flag,
/// for which the one that unpacks waits; or kernels of one thread do, if ranks may share a GPU at the same time.
/// The ranks are on one node, and their data in the same kind of memory. Each message has two places, by turns, so that
/// no rank waits until the other has unpacked.
class peer {
public:
  static constexpr std::string_view name = "peer";
  static constexpr bool reaches_device_memory = true, is_ordered_by_queue = true;
  explicit peer(messenger const& ranks);
  peer(peer const& other);

  [[nodiscard]] std::vector<std::string> connect(queue const& by, std::span<int const> ranks);
  void reserve(queue const& by, std::span<message const> sends, std::span<message const> receives);
  void place(queue const& by, std::span<message> sends, std::span<message> receives);
  void begin(queue const& by, std::span<message const> sends, std::span<message const> receives);
  void finish(queue const& by);
  /// Its exchanges may be recorded and run again.
  [[nodiscard]] detail::repeatable& repeats() const;

private:
  using links = detail::peer_links;
  messenger messages_;
  std::shared_ptr<links> links_;
};

} // namespace keel::residency

#if !KEEL_COMPILED
#include <keel/impl/exchange/peer.ipp>
#endif
