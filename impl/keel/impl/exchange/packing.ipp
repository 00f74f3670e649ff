// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/exchange/moves.hpp>

#include <utility>

namespace keel::residency::detail {

// Where an element lies in its array.
[[nodiscard]] inline std::ptrdiff_t bytes_to(shape const& lies, indices const& element) {
  std::int64_t elements = 0;
  for (int d = 0; d < lies.rank; ++d) elements += element[d] * lies.stride[d];
  return elements * lies.element_bytes;
}

KEEL_INLINE void packing::move(std::span<box_move const> boxes) {
  if (!queue_) return queue_.move(boxes);
  move_words all;
  all.extends = !boxes.empty() && is_extension(boxes.front().how);
  if (boxes.size() <= std::size_t{move_words::most}) all.add(boxes);
  else list(boxes, all);
  if (all.raises && !done_) {
    std::uint32_t const none = 0;
    done_ = queue_.send("keel: teams that are done", &none, sizeof none), queue_.fence();
  }
  all.done = reinterpret_cast<std::uint32_t*>(done_.get());
  queue_.move(all);
}

KEEL_INLINE void packing::forget() {
  if (!kept_.empty()) queue_.fence();
  kept_.clear();
}

// Numbers of flags grow from exchange to exchange: a list has them from that of the first flag on.
KEEL_INLINE void packing::list(std::span<box_move const> boxes, move_words& all) {
  auto const flagged = std::find_if(boxes.begin(), boxes.end(), [](box_move const& b) { return b.flag != nullptr; });
  all.number = flagged != boxes.end() ? flagged->number : 0;
  auto const counted = [&](box_move b) {
    if (b.flag != nullptr) b.number -= all.number;
    return b;
  };
  auto at = std::find_if(kept_.begin(), kept_.end(), [&](kept_moves const& k) {
    return std::equal(k.boxes.begin(), k.boxes.end(), boxes.begin(), boxes.end(),
                      [&](box_move const& a, box_move const& b) { return a == counted(b); });
  });
  if (at == kept_.end()) {
    if (kept_.size() == most_kept) queue_.fence(), kept_.clear(); // of arrays that are no longer there
    kept_moves made;
    for (box_move const& b : boxes) made.boxes.push_back(counted(b));
    made.jobs = jobs_of(made.boxes);
    for (move_words::job const& p : made.jobs)
      made.raises = made.raises || p.raises(), made.awaits = made.awaits || p.awaits();
    std::size_t const bytes = made.jobs.size() * sizeof(move_words::job);
    made.there = queue_.send("keel: boxes of messages", made.jobs.data(), bytes);
    at = kept_.insert(kept_.end(), std::move(made));
  }
  all.count = int(at->jobs.size());
  all.listed = reinterpret_cast<move_words::job const*>(at->there.get());
  all.words = at->jobs.empty() ? 0 : at->jobs.back().end;
  all.raises = at->raises, all.awaits = at->awaits;
}

KEEL_INLINE std::byte* buffer::grow(copy_queue const& by, std::size_t wanted, allocator allocate) {
  if (size >= wanted) return bytes.get();
  by.fence();
  std::size_t const larger = std::max(wanted, size / 16 * 24);
  *this = {};
  bytes = (by.*allocate)("keel: messages", larger);
  size = larger;
  return bytes.get();
}

KEEL_INLINE void halo_plan::forget() { kept_.clear(), now_ = nullptr; }

KEEL_INLINE void halo_plan::lay_out(std::span<halo_array const> arrays, combine how) {
  auto const is_for = [&](std::unique_ptr<laid_out> const& one) {
    return one->how == how && std::equal(one->arrays.begin(), one->arrays.end(), arrays.begin(), arrays.end(),
                                         [](halo_array const& a, halo_array const& b) {
                                           return a.lies == b.lies && a.cut == b.cut && a.component == b.component;
                                         });
  };
  auto at = std::find_if(kept_.begin(), kept_.end(), is_for);
  if (at == kept_.end()) {
    auto made = std::make_unique<laid_out>(laid_out{how, {arrays.begin(), arrays.end()}, {}, {}, {}, {}});
    find_boxes(*made);
    moves_.reserve(std::max(made->packed.size(), made->unpacked.size()));
    if (kept_.size() == most_kept) forget();
    at = kept_.insert(kept_.end(), std::move(made));
  }
  now_ = at->get();
}

// A message has all pieces of the first variable, then those of the next.
KEEL_INLINE void halo_plan::find_boxes(laid_out& made) const {
  bool const adds = made.how == combine::add;
  auto const message_to = [&](int rank) { // both ranks of a pair have one each way, maybe an empty one
    auto const at =
        std::find_if(made.sends.begin(), made.sends.end(), [&](message const& m) { return m.rank == rank; });
    if (at != made.sends.end()) return int(at - made.sends.begin());
    made.sends.push_back({rank}), made.receives.push_back({rank});
    return int(made.sends.size()) - 1;
  };
  auto const add = [&](std::vector<message>& messages, std::vector<packed_box>& parts, packed_box one, int rank) {
    one.message = message_to(rank);
    std::size_t& bytes = messages[std::size_t(one.message)].bytes;
    one.at = std::ptrdiff_t(bytes);
    bytes += padded(*made.arrays[one.array].lies, one.box);
    parts.push_back(one);
  };
  for (std::size_t first = 0, end = 0; first < made.arrays.size(); first = end) {
    halo_array const& of = made.arrays[first];
    for (end = first + 1; end < made.arrays.size() && made.arrays[end].component > made.arrays[end - 1].component;)
      ++end;
    auto const array_of = [&](int component) { return first + std::size_t(component - of.component); };
    auto const is_here = [&](int component) { return component >= of.component && array_of(component) < end; };
    std::vector<int> const turns = adds ? turns_of(*of.cut) : std::vector<int>();
    auto turn = turns.begin();
    auto const next_turn = [&] { return adds ? *turn++ : 0; };
    for (partner const& p : of.cut->partners) {
      for (segment const& one : adds ? p.ghosts : p.rims)
        if (is_here(one.component)) add(made.sends, made.packed, {array_of(one.component), one.box}, p.rank);
      for (segment const& one : adds ? p.rims : p.ghosts) {
        int const when = next_turn();
        if (is_here(one.component))
          add(made.receives, made.unpacked, {array_of(one.component), one.box, -1, 0, when}, p.rank);
      }
    }
    for (own_copy const& o : of.cut->own) {
      int const when = next_turn();
      if (!is_here(o.ghosts.component) || !is_here(o.ghosts.other)) continue;
      segment const &to = adds ? o.origins : o.ghosts, &from = adds ? o.ghosts : o.origins;
      std::size_t const other = array_of(from.component);
      std::ptrdiff_t const at = bytes_to(*made.arrays[other].lies, from.box.begin);
      made.unpacked.push_back({array_of(to.component), to.box, -1, at, when, other});
    }
  }
  for (packed_box const& one : made.unpacked) made.turns = std::max(made.turns, one.turn + 1);
}

KEEL_INLINE void halo_plan::move(motion how, motion copy, int turn, std::vector<packed_box> const& parts,
                                 std::span<message const> messages, std::span<halo_array const> arrays,
                                 packing& where) {
  moves_.clear();
  for (packed_box const& one : parts) {
    if (one.turn != turn) continue;
    halo_array const& a = arrays[one.array];
    std::int32_t const* const numbers = where.queue().numbers(one.box);
    if (one.message < 0) {
      halo_array const& from = arrays[one.other];
      moves_.push_back(
          {copy, a.lies, a.data, static_cast<std::byte*>(from.data) + one.at, one.box, numbers, nullptr, 0, from.lies});
    } else if (message const& m = messages[std::size_t(one.message)]; m.data != nullptr) {
      moves_.push_back({how, a.lies, a.data, m.data + one.at, one.box, numbers, m.flag, m.number});
    }
  }
  where.move(moves_);
}

KEEL_INLINE void halo_plan::pack(std::span<halo_array const> arrays, packing& where) {
  move(motion::gather, motion::copy, 0, now_->packed, now_->sends, arrays, where);
}

KEEL_INLINE void halo_plan::unpack(std::span<halo_array const> arrays, packing& where) {
  bool const adds = now_->how == combine::add;
  for (int turn = 0; turn < now_->turns; ++turn)
    move(adds ? motion::add : motion::scatter, adds ? motion::add_copy : motion::copy, turn, now_->unpacked,
         now_->receives, arrays, where);
}

KEEL_INLINE std::uint64_t bytes_sent(halo_array const& array, combine how) {
  std::uint64_t bytes = 0;
  for (partner const& p : array.cut->partners)
    for (segment const& one : how == combine::add ? p.ghosts : p.rims)
      if (one.component == array.component && p.rank >= 0) bytes += std::uint64_t(bytes_of(*array.lies, one.box));
  return bytes;
}

} // namespace keel::residency::detail
