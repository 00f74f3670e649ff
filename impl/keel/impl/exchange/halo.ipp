// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/halo.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace keel::residency::detail {

[[nodiscard]] inline double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

KEEL_INLINE void halo_exchange::start(std::span<halo_array const> arrays, combine how) {
  plan_.lay_out(arrays, how);
  if (!plan_.is_agreed()) plan_.is_agreed() = routes_.have_same_lengths(plan_.sends(), plan_.receives());
  if (!*plan_.is_agreed())
    throw error("residency", std::string(name_of(how)) + " is refused",
                "this rank and another one have messages of other lengths for each other",
                "Give all ranks fields of the same variables and lengths");
  measure(arrays);
  double const since = now_in_seconds();
  delivery_.place(packing_, plan_.sends(), plan_.receives(), [&](int rank) { return routes_.to(rank); });
  plan_.pack(arrays, packing_);
  delivery_.begin(packing_.queue());
  started_in_ = now_in_seconds() - since;
}

KEEL_INLINE void halo_exchange::finish(std::span<halo_array const> arrays, any_observer& observer) {
  double const since = now_in_seconds();
  if (!delivery_.is_empty()) {
    observer.before_wait();
    delivery_.finish(packing_.queue());
    observer.after_wait();
  }
  plan_.unpack(arrays, packing_);
  count(started_in_ + (now_in_seconds() - since));
}

KEEL_INLINE void halo_exchange::count(double seconds) {
  if (packing_.queue() || !plan_.times().add(seconds)) return; // of a device the host sees no end
  pace& times = plan_.times();
  std::vector<int> ranks;
  for (message const& m : plan_.sends())
    if (routes_.is_measured(m.rank)) ranks.push_back(m.rank);
  if (routes_.reopen(ranks, times.is_slow(), times.usual(), times.now())) times.forget();
  else times.end_window();
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
      queue.fence();
      double const since = now_in_seconds();
      delivery_.place(
          packing_, plan_.sends(), plan_.receives(),
          [&](int rank) { return is_in(rank) && routes_.reaches(k, rank) ? int(k) : routes::none; }, false);
      plan_.pack(arrays, packing_);
      delivery_.begin(queue);
      delivery_.finish(queue);
      queue.fence();
      if (round != 0) all.push_back(now_in_seconds() - since);
    }
    std::nth_element(all.begin(), all.begin() + 2, all.end());
    seconds.push_back(all[2]);
  }
  routes_.choose(ranks, seconds);
}

} // namespace keel::residency::detail
