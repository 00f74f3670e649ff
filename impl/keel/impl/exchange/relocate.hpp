// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The bodies of relocation.hpp.

#include <keel/impl/exchange/moves.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/exchange/relocation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

template <class T>
element_moves::way added(int rank, std::span<T const> leave, std::span<T const> come, std::vector<T>& leaving,
                         std::vector<T>& coming) {
  element_moves::way w{rank, std::int32_t(leaving.size()), 0, std::int32_t(coming.size()), 0};
  leaving.insert(leaving.end(), leave.begin(), leave.end()), coming.insert(coming.end(), come.begin(), come.end());
  w.leave_end = std::int32_t(leaving.size()), w.come_end = std::int32_t(coming.size());
  return w;
}

KEEL_INLINE void element_moves::add(int rank, std::span<std::int32_t const> leave, std::span<std::int32_t const> come) {
  ways.push_back(added(rank, leave, come, leaving, coming));
}
KEEL_INLINE void element_moves::add(int rank, std::span<bounds const> leave, std::span<bounds const> come) {
  ways.push_back(added(rank, leave, come, leaving_boxes, coming_boxes));
}

KEEL_INLINE void element_moves::leave_out_unmoved(int rank) {
  element_moves made;
  std::vector<std::int32_t> leave, come;
  for (way const& w : ways) {
    auto const count = std::size_t(w.leave_end - w.leave);
    std::span const from(leaving.data() + w.leave, count), to(coming.data() + w.come, std::size_t(w.come_end - w.come));
    if (w.rank != rank) {
      made.add(w.rank, from, to);
      continue;
    }
    for (std::size_t n = 0; n < count; ++n)
      if (from[n] != to[n]) leave.push_back(from[n]), come.push_back(to[n]);
    if (!leave.empty()) made.add(rank, leave, come);
  }
  made.fresh = std::move(fresh);
  *this = std::move(made);
}

std::byte* relocation::grow(room& r, std::size_t bytes, auto const& allocate) {
  if (r.size < bytes) {
    std::size_t const size = std::max(bytes, r.size / 16 * 24);
    r = {};
    r = {allocate(size), size};
  }
  return r.bytes.get();
}

// A message has all elements of the first array, then those of the next. What stays comes after the messages.
KEEL_INLINE void relocation::lay_out(std::span<moved_array const> arrays, kokkos_provider& by, int rank) {
  by_ = &by;
  arrays_.assign(arrays.begin(), arrays.end());
  out_.clear(), in_.clear(), sends_.clear(), receives_.clear(), lists_.clear();
  out_bytes_ = in_bytes_ = 0;
  std::size_t numbers = 0;
  std::vector<int> ranks;
  for (device_rooms& d : there_) d.is_used = false;
  for (moved_array const& a : arrays_) {
    there_[std::size_t(a.where)].is_used = true;
    for (auto const& w : a.moves->ways) ranks.push_back(w.rank);
    if (std::none_of(lists_.begin(), lists_.end(), [&](auto const& l) { return l.first == a.moves; })) {
      lists_.emplace_back(a.moves, numbers);
      numbers += a.moves->leaving.size() + a.moves->coming.size();
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::stable_partition(ranks.begin(), ranks.end(), [&](int r) { return r != rank; });
  for (int const r : ranks) {
    bool const stays = r == rank;
    std::size_t const out = out_bytes_, in = in_bytes_;
    for (std::size_t n = 0; n < arrays_.size(); ++n) {
      moved_array const& a = arrays_[n];
      auto const& ways = a.moves->ways;
      auto const w = std::lower_bound(ways.begin(), ways.end(), r, [](auto const& x, int k) { return x.rank < k; });
      if (w == ways.end() || w->rank != r) continue;
      auto const add = [&](std::vector<leg>& legs, shape const& lies, std::vector<bounds> const& boxes,
                           std::int32_t first, std::int32_t end, std::size_t& bytes) {
        auto const add_box = [&](std::int32_t number, bounds const& box) {
          legs.push_back({n, number, box, bytes, std::size_t(bytes_of(lies, box)), stays});
          bytes += padded(lies, box);
        };
        for (std::int32_t k = first; k < end && !boxes.empty(); ++k) add_box(-1, boxes[std::size_t(k)]);
        if (first < end && boxes.empty()) add_box(first, {{}, {{end - first}}});
      };
      std::size_t same = out_bytes_; // what stays is unpacked from where it is packed
      add(out_, *a.from_lies, a.moves->leaving_boxes, w->leave, w->leave_end, out_bytes_);
      add(in_, *a.to_lies, a.moves->coming_boxes, w->come, w->come_end, stays ? same : in_bytes_);
    }
    if (!stays) {
      sends_.push_back({r, nullptr, out_bytes_ - out}), receives_.push_back({r, nullptr, in_bytes_ - in});
    }
  }
  copy_queue const* pinned = nullptr;
  for (int m = 1; m < max_memories; ++m) {
    device_rooms& d = there_[std::size_t(m)];
    if (!d.is_used) continue;
    copy_queue const& queue = queue_of(memory(m));
    pinned = &queue;
    auto const allocate = [&](std::size_t bytes) { return queue.allocate("keel: moving elements", bytes); };
    grow(d.numbers, numbers * sizeof(std::int32_t), allocate);
    grow(d.out, out_bytes_, allocate), grow(d.in, in_bytes_, allocate);
  }
  auto const allocate = [&](std::size_t bytes) -> std::shared_ptr<std::byte> {
    if (pinned != nullptr) return pinned->allocate_on_host("keel: moving elements", bytes);
    auto const words = std::make_shared<std::uint64_t[]>((bytes + 7) / 8);
    return {words, reinterpret_cast<std::byte*>(words.get())};
  };
  std::byte *to = grow(mail_out_, out_bytes_, allocate), *from = grow(mail_in_, in_bytes_, allocate);
  for (message& s : sends_) s.data = std::exchange(to, to + s.bytes);
  for (message& r : receives_) r.data = std::exchange(from, from + r.bytes);
}

KEEL_INLINE box_move relocation::move_of(leg const& l, bool leaves) const {
  moved_array const& a = arrays_[l.array];
  device_rooms const& d = there_[std::size_t(a.where)];
  bool const is_here = a.where == host, in_out = leaves || l.stays;
  std::vector<std::int32_t> const& list = leaves ? a.moves->leaving : a.moves->coming;
  std::int32_t const* numbers = list.data();
  if (!is_here) {
    auto const at = std::find_if(lists_.begin(), lists_.end(), [&](auto const& k) { return k.first == a.moves; });
    numbers = reinterpret_cast<std::int32_t const*>(d.numbers.bytes.get()) + at->second +
              (leaves ? 0 : a.moves->leaving.size());
  }
  std::byte* const buffer =
      in_out ? (is_here ? mail_out_ : d.out).bytes.get() : (is_here ? mail_in_ : d.in).bytes.get();
  return {leaves ? motion::gather : motion::scatter,
          leaves ? a.from_lies : a.to_lies,
          leaves ? a.from : a.to,
          buffer + l.at,
          l.box,
          l.first < 0 ? nullptr : numbers + l.first};
}

KEEL_INLINE void relocation::move(std::vector<leg> const& legs, memory m, bool leave) {
  moves_.clear();
  for (leg const& l : legs)
    if (arrays_[l.array].where == m) moves_.push_back(move_of(l, leave));
  if (m != host) return queue_of(m).move(moves_);
  for (box_move const& each : moves_) move_on_host(each);
}

void relocation::for_each_run(std::vector<leg> const& legs, memory m, auto const& f) const {
  std::size_t begin = 0, end = 0;
  for (leg const& l : legs) {
    if (l.stays || arrays_[l.array].where != m) continue;
    if (l.at != (end + 7) / 8 * 8) {
      if (end != begin) f(begin, end);
      begin = l.at;
    }
    end = l.at + l.bytes;
  }
  if (end != begin) f(begin, end);
}

// Begins what devices do with memory of the host, and returns when it is done, also if the rest of it cannot begin.
void relocation::until_done(auto const& begin) {
  auto const fence = [&] {
    for (int m = 1; m < max_memories; ++m)
      if (there_[std::size_t(m)].is_used) queue_of(memory(m)).fence();
  };
  try {
    begin();
  } catch (...) {
    try {
      fence();
    } catch (...) { // the first one tells more
    }
    throw;
  }
  fence();
}

KEEL_INLINE void relocation::pack(messenger& ranks) {
  std::size_t messages = 0;
  for (auto const* list : {&sends_, &receives_})
    for (message const& m : *list) messages += 1 + (m.bytes >> 30);
  ranks.reserve(messages), moves_.reserve(std::max(out_.size(), in_.size()));
  until_done([&] { begin_packing(); });
}
KEEL_INLINE void relocation::begin_packing() {
  for (int m = 1; m < max_memories; ++m) {
    device_rooms& d = there_[std::size_t(m)];
    if (!d.is_used) continue;
    copy_queue const& queue = queue_of(memory(m));
    for (auto const& [moves, first] : lists_) {
      std::byte* at = d.numbers.bytes.get() + first * sizeof(std::int32_t);
      for (auto const* list : {&moves->leaving, &moves->coming}) {
        std::size_t const bytes = list->size() * sizeof(std::int32_t);
        queue.to_device(at, list->data(), bytes);
        at += bytes;
      }
    }
    move(out_, memory(m), true);
    for_each_run(out_, memory(m), [&](std::size_t begin, std::size_t end) {
      queue.to_host(mail_out_.bytes.get() + begin, d.out.bytes.get() + begin, end - begin);
    });
  }
  move(out_, host, true);
}

KEEL_INLINE void relocation::exchange(messenger& ranks) {
  for (message const& r : receives_)
    if (r.bytes != 0) ranks.receive(r.data, r.bytes, r.rank);
  for (message const& s : sends_)
    if (s.bytes != 0) ranks.send(s.data, s.bytes, s.rank);
  ranks.wait();
}

KEEL_INLINE void relocation::unpack() {
  until_done([&] { begin_unpacking(); });
}
KEEL_INLINE void relocation::begin_unpacking() {
  for (int m = 1; m < max_memories; ++m) {
    device_rooms& d = there_[std::size_t(m)];
    if (!d.is_used) continue;
    for_each_run(in_, memory(m), [&](std::size_t begin, std::size_t end) {
      queue_of(memory(m)).to_device(d.in.bytes.get() + begin, mail_in_.bytes.get() + begin, end - begin);
    });
    move(in_, memory(m), false);
  }
  move(in_, host, false);
}

} // namespace keel::residency::detail
