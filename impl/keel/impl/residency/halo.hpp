// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the arrays of neighbouring ranks.

#include <keel/impl/residency/observers.hpp>
#include <keel/impl/residency/packing.hpp>
#include <keel/impl/residency/transports.hpp>
#include <keel/residency/transitions.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What the exchange of one component needs. It fills ghosts in one round, or adds them to their owners.
class halo_channel {
public:
  halo_channel(routes& by, copy_queue const* queue, decomposition cut)
      : plan_(std::move(cut)), routes_(by), delivery_(by) {
    if (queue != nullptr) packing_.connect(*queue);
  }

  /// Collective over the ranks that exchange, with the same arrays in the same order. Until `finish` the owned cells
  /// may be read, the ghosts not touched.
  void start(std::span<halo_array const> arrays, combine how) {
    plan_.lay_out(arrays, how);
    measure(arrays, how);
    delivery_.place(packing_, plan_.sends(), plan_.receives(), [&](int rank) { return routes_.to(rank); });
    plan_.pack(arrays, packing_, how);
    delivery_.begin(packing_.queue());
  }
  /// With the same arguments as `start`, and an observer of the wait for messages.
  void finish(std::span<halo_array const> arrays, combine how, any_observer& observer) {
    if (!delivery_.is_empty()) {
      observer.before_wait();
      delivery_.finish(packing_.queue());
      observer.after_wait();
    }
    plan_.unpack(arrays, packing_, how);
  }
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const { return plan_.bytes_sent(lies); }

private:
  /// Sends these messages by each transport that reaches a rank whose way is not chosen, and chooses the fastest. What
  /// comes is not unpacked.
  void measure(std::span<halo_array const> arrays, combine how);

  halo_plan plan_;
  routes& routes_;
  packing packing_;
  delivery delivery_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/measure.hpp>
#endif
