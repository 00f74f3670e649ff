// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the arrays of neighbouring ranks.

#include <keel/impl/residency/packing.hpp>
#include <keel/machine/messages.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace keel::residency::detail {

/// What the exchange of one component needs. It fills ghosts in one round.
template <class Ranks>
struct halo_channel {
  halo_channel(machine::basic_environment<Ranks> const& environment, share const& s)
      : plan_(environment.rank(), s), messages_(environment) {}

  /// Collective over the environment, with the same arrays in the same order. Receives stand before
  /// anything is packed on the host; on a device, the last exchange has to be unpacked first. Until `finish` the owned
  /// cells may be read, the ghosts not touched.
  void start(std::span<halo_array const> arrays, packing& where) {
    plan_.lay_out(arrays, where);
    if (!where.is_behind_caller()) receive(where);
    plan_.pack(arrays, where);
    if (plan_.others().empty()) return;
    where.settle();
    if (where.is_behind_caller()) receive(where);
    for (auto const& m : plan_.others()) messages_.send(where.mail_out() + m.begin, m.bytes, m.rank, 0);
  }
  /// With the same arguments as `start`, and who hears of the wait for messages.
  void finish(std::span<halo_array const> arrays, packing& where, auto& observer) {
    if (!plan_.others().empty()) {
      observer.before_wait();
      messages_.wait();
      observer.after_wait();
      where.collect();
    }
    plan_.unpack(arrays, where);
  }
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const { return plan_.bytes_sent(lies); }

  std::array<packing, max_memories> packings; ///< by memory

private:
  void receive(packing const& where) {
    for (auto const& m : plan_.others()) messages_.receive(where.mail_in() + m.begin, m.bytes, m.rank, 0);
  }

  halo_plan plan_;
  machine::messages<Ranks> messages_;
};

} // namespace keel::residency::detail
