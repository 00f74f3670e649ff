// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How ghosts are exchanged, and transports measured: the bodies of halo.hpp.

#include <keel/impl/residency/halo.hpp>
#include <keel/policy/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace keel::residency::detail {

KEEL_INLINE void halo_exchange::start(std::span<halo_array const> arrays, combine how) {
  plan_.lay_out(arrays, how);
  if (!plan_.is_agreed()) plan_.is_agreed() = routes_.have_same_lengths(plan_.sends(), plan_.receives());
  if (!*plan_.is_agreed())
    throw error("residency", std::string(name_of(how)) + " is refused",
                "this rank and another one have messages of other lengths for each other",
                "Give all ranks fields of the same variables and lengths");
  measure(arrays);
  delivery_.place(packing_, plan_.sends(), plan_.receives(), [&](int rank) { return routes_.to(rank); });
  plan_.pack(arrays, packing_);
  delivery_.begin(packing_.queue());
}

KEEL_INLINE void halo_exchange::finish(std::span<halo_array const> arrays, any_observer& observer) {
  if (!delivery_.is_empty()) {
    observer.before_wait();
    delivery_.finish(packing_.queue());
    observer.after_wait();
  }
  plan_.unpack(arrays, packing_);
}

KEEL_INLINE void halo_exchange::measure(std::span<halo_array const> arrays) {
  std::vector<int> ranks;
  for (message const& m : plan_.sends())
    if (routes_.to(m.rank) == routes::open) ranks.push_back(m.rank);
  if (ranks.empty()) return;
  copy_queue const& queue = packing_.queue();
  auto const is_in = [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
  std::vector<double> seconds;
  for (std::size_t k = 0; k < routes_.known().size(); ++k) {
    std::vector<double> all;
    for (int round = 0; round < 6; ++round) {
      if (queue) queue.fence();
      auto const begun = std::chrono::steady_clock::now();
      delivery_.place(
          packing_, plan_.sends(), plan_.receives(),
          [&](int rank) { return is_in(rank) && routes_.reaches(k, rank) ? int(k) : routes::none; }, false);
      plan_.pack(arrays, packing_);
      delivery_.begin(queue);
      delivery_.finish(queue);
      if (queue) queue.fence();
      if (round != 0) all.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
    std::nth_element(all.begin(), all.begin() + 2, all.end());
    seconds.push_back(all[2]);
  }
  routes_.choose(ranks, seconds);
}

} // namespace keel::residency::detail
