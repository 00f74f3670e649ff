// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A transport as users write one, by public headers only.

#include <keel/exchange/transport.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

namespace kr = keel::residency;

/// Copies each message to memory of the host by itself.
class mailed {
public:
  static constexpr std::string_view name = "mailed";
  static constexpr bool reaches_device_memory = true, is_ordered_by_queue = false;
  explicit mailed(kr::messenger const& ranks) : ranks_(ranks) {}

  void begin(kr::queue const& queue, std::span<kr::message const> sends, std::span<kr::message const> receives) {
    for (kr::message const& m : sends) queue.to_host(mail(queue, m, leaving_), m.data, m.bytes);
    queue.fence();
    for (kr::message const& m : receives) ranks_.receive(mail(queue, m, arriving_), m.bytes, m.rank);
    for (auto const& [m, letter] : leaving_) ranks_.send(letter.get(), m.bytes, m.rank);
  }
  void finish(kr::queue const& queue) {
    ranks_.wait();
    for (auto const& [m, letter] : arriving_) queue.to_device(m.data, letter.get(), m.bytes);
    queue.fence();
    leaving_.clear(), arriving_.clear();
  }

private:
  using letters = std::vector<std::pair<kr::message, std::shared_ptr<std::byte>>>;
  static std::byte* mail(kr::queue const& queue, kr::message const& m, letters& all) {
    return all.emplace_back(m, queue.allocate_on_host("mail", m.bytes)).second.get();
  }

  kr::messenger ranks_;
  letters leaving_, arriving_;
};
static_assert(kr::Transport<mailed>);

} // namespace test
