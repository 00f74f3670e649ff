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

KEEL_INLINE void halo_exchange::start(std::span<halo_array const> arrays, combine how, bool is_whole) {
  plan_.lay_out(arrays, how);
  if (!plan_.is_agreed()) plan_.is_agreed() = routes_.have_same_lengths(plan_.sends(), plan_.receives());
  if (!*plan_.is_agreed())
    throw error("residency", std::string(name_of(how)) + " is refused",
                "this rank and another one have messages of other lengths for each other",
                "Give all ranks fields of the same variables and lengths");
  bool const is_placed = plan_.placing() == placing_ && changes_ == routes_.changes() && !delivery_.has_places();
  if (!is_placed) measure(arrays);
  double const since = now();
  if (!is_placed) place([&](int rank) { return routes_.to(rank); }, plan_.has_one_turn());
  plan_.pack(arrays, packing_, is_whole);
  delivery_.begin(packing_.queue());
  started_in_ = now() - since;
}

KEEL_INLINE void halo_exchange::finish(std::span<halo_array const> arrays, any_observer& observer) {
  double const since = now();
  if (!delivery_.is_empty()) {
    observer.before_wait();
    delivery_.finish(packing_.queue());
    observer.after_wait();
  }
  plan_.unpack(arrays, packing_);
  count(started_in_ + (now() - since));
}

// Of a device the host sees no end.
KEEL_INLINE bool halo_exchange::is_timed() const { return routes_.are_measured() && !packing_.queue(); }
KEEL_INLINE double halo_exchange::now() const { return is_timed() ? now_in_seconds() : 0; }
KEEL_INLINE void halo_exchange::count(double seconds) {
  if (!is_timed() || !plan_.times().add(seconds)) return;
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
      place([&](int rank) { return is_in(rank) && routes_.reaches(k, rank) ? int(k) : routes::none; }, false);
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

KEEL_INLINE partner& element_moves::to(int rank) {
  auto const at =
      std::find_if(cut.partners.begin(), cut.partners.end(), [&](partner const& p) { return p.rank == rank; });
  return at != cut.partners.end() ? *at : cut.partners.emplace_back(partner{rank, {}, {}});
}
KEEL_INLINE void element_moves::add(std::vector<segment> partner::* list, int rank, std::span<std::int32_t const> all) {
  if (all.empty()) return;
  if (numbers_ == nullptr) {
    auto made = std::make_unique<element_list>();
    numbers_ = made.get();
    cut.lists.push_back(std::move(made));
  }
  std::int64_t const first = numbers_->add(all);
  (to(rank).*list).push_back({0, index_set(*numbers_, first, std::int64_t(all.size()))});
}

KEEL_INLINE relocation::relocation(messenger const& ranks, routes const& by) : ways_(by) {
  for (auto const& t : by.known()) known_.push_back(t->another());
  known_.push_back(std::make_unique<transport_of<staged>>(ranks));
}

KEEL_INLINE void relocation::lay_out(std::span<moved_array const> arrays) {
  at_work_.clear(), queues_.clear();
  for (auto& p : parts_) p->numbers.clear(), p->from.clear(), p->to.clear();
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    auto at = std::find_if(parts_.begin(), parts_.end(), [&](auto const& p) { return p->where == arrays[n].where; });
    if (at == parts_.end()) at = parts_.insert(at, std::make_unique<part>(known_, arrays[n]));
    (*at)->numbers.push_back(n), (*at)->from.push_back(arrays[n].from), (*at)->to.push_back(arrays[n].to);
  }
  for (auto& p : parts_) {
    if (p->to.empty()) continue;
    at_work_.push_back(p.get()), queues_.push_back(p->where);
    p->lay_out(ways_, int(known_.size()) - 1);
  }
}

// What stays is unpacked from where it is packed.
KEEL_INLINE void relocation::part::lay_out(routes const& ways, int staged) {
  copy_queue const& queue = room.queue();
  room.forget(), plan.forget();
  plan.lay_out(to, combine::replace, from);
  by.deal(room, plan.sends(), plan.receives(), [&](int rank) {
    if (rank < 0) return routes::none;
    int const one = ways.for_elements(rank, lies_in);
    return one == routes::none ? staged : one;
  });
  fresh_bytes = 0;
  for (std::size_t n = 0; n < plan.sends().size(); ++n) {
    message &out = plan.sends()[n], &in = plan.receives()[n];
    if (in.rank == element_moves::here) out.data = in.data = own.grow(queue, in.bytes);
    if (in.rank != element_moves::fresh) continue;
    fresh_bytes = in.bytes;
    in.data = fresh.grow(queue, in.bytes), fresh_here.grow(queue, in.bytes, buffer::on_host);
  }
  lists.clear();
  std::size_t bytes = 0;
  for (halo_array const& a : to)
    for (auto const& l : a.cut->lists)
      if (std::find(lists.begin(), lists.end(), l.get()) == lists.end())
        lists.push_back(l.get()), bytes += l->all().size_bytes();
  if (queue) listed.grow(queue, bytes);
}

KEEL_INLINE void relocation::part::pack() {
  std::byte* at = listed.bytes.get();
  for (element_list const* l : lists)
    if (room.queue()) room.queue().bring(*l, {listed.bytes, std::exchange(at, at + l->all().size_bytes())});
  plan.pack(from, room);
  (void)by.fetch(room.queue());
}
KEEL_INLINE void relocation::part::unpack() {
  room.queue().to_device(fresh.bytes.get(), fresh_here.bytes.get(), fresh_bytes);
  plan.unpack(to, room);
}

KEEL_INLINE void relocation::pack() {
  for (part* p : at_work_) p->by.place(p->room, p->plan.sends(), p->plan.receives(), false);
  until_done(queues_, [&] {
    for (part* p : at_work_) p->pack();
  });
}
KEEL_INLINE void relocation::exchange() {
  until_done(queues_, [&] {
    for (part* p : at_work_) p->by.send(p->room.queue());
    for (part* p : at_work_) p->by.finish(p->room.queue());
  });
}
KEEL_INLINE void relocation::unpack() {
  until_done(queues_, [&] {
    for (part* p : at_work_) p->unpack();
  });
}

} // namespace keel::residency::detail
