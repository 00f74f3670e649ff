// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/relocation.hpp>

#include <algorithm>

namespace keel::residency::detail {

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

KEEL_INLINE relocation::part::part(messenger const& ranks, copy_queue const& queue)
    : by(transports_of(keel::list<staged>{}, ranks)) {
  room.connect(queue);
}

KEEL_INLINE void relocation::lay_out(std::span<moved_array const> arrays, kokkos_provider& by) {
  at_work_.clear(), queues_.clear();
  for (auto& p : parts_)
    if (p) p->numbers.clear(), p->from.clear(), p->to.clear();
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    auto& p = parts_[std::size_t(arrays[n].where)];
    if (!p) p.emplace(ranks_, by.queue_of(arrays[n].where));
    p->numbers.push_back(n), p->from.push_back(arrays[n].from), p->to.push_back(arrays[n].to);
  }
  for (auto& p : parts_) {
    if (!p || p->to.empty()) continue;
    at_work_.push_back(&*p), queues_.push_back(&p->room.queue());
    p->lay_out();
  }
}

// What stays is unpacked from where it is packed.
KEEL_INLINE void relocation::part::lay_out() {
  copy_queue const& queue = room.queue();
  room.forget(), plan.forget();
  plan.lay_out(to, combine::replace, from);
  by.place(room, plan.sends(), plan.receives(), [](int rank) { return rank < 0 ? routes::none : 0; });
  by.reserve();
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
  until_done(queues_, [&] {
    for (part* p : at_work_) p->pack();
  });
}
KEEL_INLINE void relocation::exchange() {
  for (part* p : at_work_) p->by.send(p->room.queue());
  for (part* p : at_work_) p->by.finish(p->room.queue());
}
KEEL_INLINE void relocation::unpack() {
  until_done(queues_, [&] {
    for (part* p : at_work_) p->unpack();
  });
}

} // namespace keel::residency::detail
