// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Transports that count messages.

#include <keel/exchange/peer.hpp>
#include <keel/exchange/transport.hpp>

#include <span>
#include <string_view>

namespace test {

inline int carried = 0;
/// Counts the messages that it carries.
template <class Transport>
struct counting : Transport {
  using Transport::Transport;
  void begin(auto const& queue, std::span<keel::residency::message const> sends,
             std::span<keel::residency::message const> receives) {
    for (auto const& s : sends) carried += s.bytes != 0 ? 1 : 0;
    Transport::begin(queue, sends, receives);
  }
};
struct counted : counting<keel::residency::staged> {
  static constexpr std::string_view name = "counted";
  using counting::counting;
};

} // namespace test
