// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A transport that counts messages.

#include <keel/exchange/transport.hpp>

#include <span>
#include <string_view>

namespace test {

inline int carried = 0;
/// Counts the messages that it carries.
struct counted : keel::residency::staged {
  static constexpr std::string_view name = "counted";
  using keel::residency::staged::staged;
  void begin(auto const& queue, std::span<keel::residency::message const> sends,
             std::span<keel::residency::message const> receives) {
    for (auto const& s : sends) carried += s.bytes != 0 ? 1 : 0;
    keel::residency::staged::begin(queue, sends, receives);
  }
};

} // namespace test
