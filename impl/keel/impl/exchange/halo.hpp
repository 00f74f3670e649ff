// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The exchange of ghosts between the arrays of neighbouring ranks.

#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/exchange/transports.hpp>
#include <keel/impl/validity/observers.hpp>

#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// A cut that exchanges take, of so many layers of ghosts.
template <class Of>
struct kept_cut {
  Of of;
  int layers;
  std::unique_ptr<decomposition const> made;
};
/// One of these; made if it is not there.
template <class Of>
[[nodiscard]] decomposition const& cut_in(std::vector<kept_cut<Of>>& all, Of const& of, int layers, auto const& make) {
  for (kept_cut<Of> const& k : all)
    if (k.of == of && k.layers == layers) return *k.made;
  return *all.emplace_back(kept_cut<Of>{of, layers, std::make_unique<decomposition const>(make())}).made;
}

/// What exchanges need. They fill ghosts in one round, or add them to their owners.
class halo_exchange {
public:
  halo_exchange(routes& by, copy_queue const& queue) : routes_(by), delivery_(by.known()) { packing_.connect(queue); }

  /// Collective over the ranks that exchange, with the same arrays in the same order. Until `finish` the owned elements
  /// may be read, the ghosts not touched. One exchange at a time.
  void start(std::span<halo_array const> arrays, combine how);
  /// With the same arrays as `start`, and an observer of the wait for messages.
  void finish(std::span<halo_array const> arrays, any_observer& observer);

  /// To be called when arrays or cuts have changed.
  void forget() { plan_.forget(), packing_.forget(); }

private:
  /// Counts an exchange of so many seconds. From time to time ranks ask each other whether it has become slow.
  void count(double seconds);
  /// Sends these messages by each transport that reaches a rank whose way is not chosen, and chooses the fastest. What
  /// comes is not unpacked.
  void measure(std::span<halo_array const> arrays);

  halo_plan plan_;
  double started_in_ = 0; // seconds
  routes& routes_;
  packing packing_;
  delivery delivery_;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/halo.ipp>
#endif
