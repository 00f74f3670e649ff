// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/relocation.hpp>
#include <keel/impl/exchange/packing.hpp>

#include <algorithm>
#include <tuple>

namespace keel::residency::detail {

KEEL_INLINE void elements_by_rank::add(int rank, std::span<std::int32_t const> more) {
  if (more.empty()) return;
  auto const begin = std::int32_t(elements.size());
  elements.insert(elements.end(), more.begin(), more.end());
  groups.push_back({rank, begin, std::int32_t(elements.size())});
}
KEEL_INLINE void elements_by_rank::add(int rank, bounds const& box) {
  auto const at = std::int32_t(boxes.size());
  if (groups.empty() || groups.back().rank != rank) groups.push_back({rank, at, at});
  boxes.push_back(box), ++groups.back().end;
}

KEEL_INLINE void element_moves::leave_out_unmoved(int rank) {
  if (leave.groups.empty() || leave.groups.back().rank != rank) return;
  elements_by_rank::group &from = leave.groups.back(), &to = come.groups.back();
  std::int32_t kept = 0;
  for (std::int32_t n = 0; n < from.end - from.begin; ++n) {
    std::int32_t const before = leave.elements[std::size_t(from.begin + n)],
                       after = come.elements[std::size_t(to.begin + n)];
    if (before == after) continue;
    leave.elements[std::size_t(from.begin + kept)] = before, come.elements[std::size_t(to.begin + kept++)] = after;
  }
  from.end = from.begin + kept, to.end = to.begin + kept;
  leave.elements.resize(std::size_t(from.end)), come.elements.resize(std::size_t(to.end));
}

std::byte* relocation::grow(room& r, std::size_t bytes, auto const& allocate) {
  if (r.size < bytes) {
    std::size_t const size = std::max(bytes, r.size / 16 * 24);
    r = {};
    r = {allocate(size), size};
  }
  return r.bytes.get();
}

// A message has all elements of the first array, then those of the next. New elements, and what stays on the rank, come
// after the messages; what stays is unpacked from where it is packed.
KEEL_INLINE void relocation::find_legs(side& s) {
  s.legs.clear(), s.messages.clear(), s.bytes = 0;
  for (std::size_t n = 0; n < arrays_.size(); ++n) {
    elements_by_rank const& all = arrays_[n].elements(s.comes);
    for (auto const& g : all.groups) {
      if (all.boxes.empty() && g.begin != g.end)
        s.legs.push_back({n, g.rank, g.begin, {{}, {{g.end - g.begin}}}, 0, 0});
      for (std::int32_t k = g.begin; k != g.end && !all.boxes.empty(); ++k)
        s.legs.push_back({n, g.rank, -1, all.boxes[std::size_t(k)], 0, 0});
    }
  }
  auto const is_mailed = [&](int rank) { return rank >= 0 && rank != rank_; };
  std::stable_sort(s.legs.begin(), s.legs.end(), [&](leg const& a, leg const& b) {
    return std::tuple(!is_mailed(a.rank), a.rank) < std::tuple(!is_mailed(b.rank), b.rank);
  });
  std::size_t own = 0; // where what stays begins
  for (message const& m : out_.messages) own += m.bytes;
  for (leg& l : s.legs) {
    shape const& lies = arrays_[l.array].lies(s.comes);
    std::size_t const bytes = padded(lies, l.box);
    std::size_t& at = &s == &in_ && l.rank == rank_ ? own : s.bytes;
    l.bytes = std::size_t(bytes_of(lies, l.box)), l.at = std::exchange(at, at + bytes);
    if (!is_mailed(l.rank) || bytes == 0) continue;
    if (s.messages.empty() || s.messages.back().rank != l.rank) s.messages.push_back({l.rank});
    s.messages.back().bytes += bytes;
  }
}

KEEL_INLINE void relocation::lay_out(std::span<moved_array const> arrays, kokkos_provider& by, int rank) {
  by_ = &by, rank_ = rank;
  arrays_.assign(arrays.begin(), arrays.end());
  lists_.clear(), devices_.clear(), queues_.clear();
  std::size_t numbers = 0;
  for (moved_array const& a : arrays_) {
    if (a.where != host && std::find(devices_.begin(), devices_.end(), a.where) == devices_.end())
      devices_.push_back(a.where), queues_.push_back(&by.queue_of(a.where));
    if (std::any_of(lists_.begin(), lists_.end(), [&](auto const& l) { return l.first == a.moves; })) continue;
    lists_.emplace_back(a.moves, numbers);
    numbers += a.moves->leave.elements.size() + a.moves->come.elements.size();
  }
  find_legs(out_), find_legs(in_);
  for (memory const m : devices_) {
    auto const allocate = [&](std::size_t bytes) { return by.queue_of(m).allocate("keel: moving elements", bytes); };
    grow(numbers_[std::size_t(m)], numbers * sizeof(std::int32_t), allocate);
    for (side* s : {&out_, &in_}) grow(s->rooms[std::size_t(m)], s->bytes, allocate);
  }
  for (side* s : {&out_, &in_}) {
    std::byte* at = grow(s->rooms[0], s->bytes, [&](std::size_t bytes) {
      return by.queue_of(devices_.empty() ? host : devices_.back()).allocate_on_host("keel: moving elements", bytes);
    });
    for (message& m : s->messages) m.data = std::exchange(at, at + m.bytes);
  }
}

KEEL_INLINE box_move relocation::move_of(leg const& l, side const& s) const {
  moved_array const& a = arrays_[l.array];
  auto const m = std::size_t(a.where);
  std::int32_t const* numbers = a.elements(s.comes).elements.data();
  if (a.where != host) {
    auto const at = std::find_if(lists_.begin(), lists_.end(), [&](auto const& k) { return k.first == a.moves; });
    numbers = reinterpret_cast<std::int32_t const*>(numbers_[m].bytes.get()) + at->second +
              (&s == &out_ ? 0 : a.moves->leave.elements.size());
  }
  return {s.comes ? motion::scatter : motion::gather,
          &a.lies(s.comes),
          a.array(s.comes),
          (l.rank == rank_ ? out_ : s).rooms[m].bytes.get() + l.at,
          l.box,
          l.first < 0 ? nullptr : numbers + l.first};
}

KEEL_INLINE void relocation::move(side const& s, memory m) {
  moves_.clear();
  for (leg const& l : s.legs)
    if (arrays_[l.array].where == m) moves_.push_back(move_of(l, s));
  by_->queue_of(m).move(moves_);
}

void relocation::for_each_run(side const& s, memory m, auto const& f) const {
  std::size_t begin = 0, end = 0;
  for (leg const& l : s.legs) {
    if (l.rank == rank_ || arrays_[l.array].where != m) continue;
    if (l.at != (end + 7) / 8 * 8) {
      if (end != begin) f(begin, end - begin);
      begin = l.at;
    }
    end = l.at + l.bytes;
  }
  if (end != begin) f(begin, end - begin);
}

void relocation::run(side const& s, auto const& f) {
  until_done(queues_, [&] {
    for (memory const m : devices_) f(m, by_->queue_of(m));
    move(s, host);
  });
}

KEEL_INLINE void relocation::pack(messenger& ranks) {
  std::size_t messages = 0;
  for (side const* s : {&out_, &in_})
    for (message const& m : s->messages) messages += 1 + (m.bytes >> 30);
  ranks.reserve(messages), moves_.reserve(std::max(out_.legs.size(), in_.legs.size()));
  run(out_, [&](memory m, copy_queue const& queue) {
    std::byte* to = numbers_[std::size_t(m)].bytes.get();
    for (auto const& known : lists_)
      for (auto const* list : {&known.first->leave.elements, &known.first->come.elements}) {
        std::size_t const bytes = list->size() * sizeof(std::int32_t);
        queue.to_device(std::exchange(to, to + bytes), list->data(), bytes);
      }
    move(out_, m);
    for_each_run(out_, m, [&](std::size_t at, std::size_t bytes) {
      queue.to_host(out_.rooms[0].bytes.get() + at, out_.rooms[std::size_t(m)].bytes.get() + at, bytes);
    });
  });
}

KEEL_INLINE void relocation::exchange(messenger& ranks) {
  for (message const& r : in_.messages) ranks.receive(r.data, r.bytes, r.rank);
  for (message const& s : out_.messages) ranks.send(s.data, s.bytes, s.rank);
  ranks.wait();
}

KEEL_INLINE void relocation::unpack() {
  run(in_, [&](memory m, copy_queue const& queue) {
    for_each_run(in_, m, [&](std::size_t at, std::size_t bytes) {
      queue.to_device(in_.rooms[std::size_t(m)].bytes.get() + at, in_.rooms[0].bytes.get() + at, bytes);
    });
    move(in_, m);
  });
}

} // namespace keel::residency::detail
