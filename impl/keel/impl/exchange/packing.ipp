// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/packing.hpp>

#include <utility>

namespace keel::residency::detail {

// Where the first element of a segment lies in its array.
[[nodiscard]] inline std::ptrdiff_t bytes_to(shape const& lies, segment const& one) {
  std::int64_t elements = 0;
  for (int d = 0; d < lies.rank; ++d) elements += first_of(one.box, one.steps, d) * lies.stride[d];
  elements += part_begin(lies, one.steps);
  return elements * lies.element_bytes;
}

KEEL_INLINE void packing::move(std::span<job> jobs) {
  if (!queue_) return queue_.move(jobs);
  move_words all;
  all.extends = !jobs.empty() && is_extension(jobs.front().how);
  if (jobs.size() <= std::size_t{move_words::most}) all.add(jobs);
  else list(jobs, all);
  queue_.move(all);
}

KEEL_INLINE void packing::forget() {
  if (!kept_.empty()) queue_.fence();
  kept_.clear(), changes_ = new_state();
}

KEEL_INLINE void packing::list(std::span<job> jobs, move_words& all) {
  for (job& p : jobs) all.enter(p);
  auto at = std::find_if(kept_.begin(), kept_.end(), [&](kept_moves const& k) {
    return std::equal(k.jobs.begin(), k.jobs.end(), jobs.begin(), jobs.end());
  });
  if (at == kept_.end()) {
    if (kept_.size() == most_kept) forget(); // of arrays that are no longer there
    kept_moves made{{jobs.begin(), jobs.end()}, starts_of(jobs), nullptr, nullptr};
    made.there = queue_.send("keel: boxes of messages", made.jobs.data(), jobs.size_bytes());
    made.starts_there = queue_.send("keel: pieces of messages", made.starts.data(), made.starts.size() * 4);
    at = kept_.insert(kept_.end(), std::move(made));
  }
  all.listed = reinterpret_cast<job const*>(at->there.get());
  all.starts = reinterpret_cast<std::int32_t const*>(at->starts_there.get());
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

KEEL_INLINE void halo_plan::lay_out(std::span<halo_array const> arrays, combine how, std::span<halo_array const> from) {
  auto const is_for = [&](std::unique_ptr<laid_out> const& one) {
    return one->how == how && std::equal(one->arrays.begin(), one->arrays.end(), arrays.begin(), arrays.end(),
                                         [](halo_array const& a, halo_array const& b) {
                                           return a.lies == b.lies && a.cut == b.cut && a.component == b.component;
                                         });
  };
  auto at = std::find_if(kept_.begin(), kept_.end(), is_for);
  if (at == kept_.end()) {
    auto made = std::make_unique<laid_out>(laid_out{how, {arrays.begin(), arrays.end()}, {}, {}, {}, {}, {}});
    find_boxes(*made, from.empty() ? arrays : from);
    made->jobs.resize(1 + 2 * std::size_t(made->turns));
    for (kept_jobs& jobs : made->jobs) // a rank alone may lack memory later
      jobs.data.reserve(arrays.size()), jobs.all.reserve(std::max(made->packed.size(), made->unpacked.size()));
    if (kept_.size() == most_kept) forget();
    at = kept_.insert(kept_.end(), std::move(made));
  }
  now_ = at->get();
}

// A message has all pieces of the first variable, then those of the next.
KEEL_INLINE void halo_plan::find_boxes(laid_out& made, std::span<halo_array const> from_arrays) const {
  bool const adds = made.how == combine::add;
  auto const message_to = [&](int rank) { // both ranks of a pair have one each way, maybe an empty one
    auto const at =
        std::find_if(made.sends.begin(), made.sends.end(), [&](message const& m) { return m.rank == rank; });
    if (at != made.sends.end()) return int(at - made.sends.begin());
    made.sends.push_back({rank}), made.receives.push_back({rank});
    return int(made.sends.size()) - 1;
  };
  auto const add = [&](std::vector<message>& messages, std::vector<packed_box>& parts,
                       std::span<halo_array const> arrays, std::size_t array, segment const& one, int rank, int turn) {
    shape const& lies = *arrays[array].lies;
    int const message = message_to(rank);
    std::size_t& bytes = messages[std::size_t(message)].bytes;
    parts.push_back({array, one.box, strip_of(lies, one.box, one.box.numbers(), nullptr, {}, one.steps), message,
                     std::ptrdiff_t(bytes), turn});
    bytes += padded(lies, one.box, one.steps);
  };
  auto const negate = [&](std::size_t array, segment const& one, int turn) {
    shape const& lies = *made.arrays[array].lies;
    if (one.changes_sign)
      made.negated.push_back({array, one.box, strip_of(lies, one.box, nullptr, &lies, one.steps, one.steps), -1,
                              bytes_to(lies, one), turn, array});
  };
  for (std::size_t first = 0, end = 0; first < made.arrays.size(); first = end) {
    halo_array const& of = made.arrays[first];
    if (of.lies->part != nullptr && of.lies->part->is_folded) made.is_apart = false; // elements on it are both
    for (end = first + 1; end < made.arrays.size() && made.arrays[end].component > made.arrays[end - 1].component;)
      ++end;
    auto const array_of = [&](int component) { return first + std::size_t(component - of.component); };
    auto const is_here = [&](int component) { return component >= of.component && array_of(component) < end; };
    std::vector<int> const turns = adds ? turns_of(*of.cut) : std::vector<int>();
    auto turn = turns.begin();
    auto const next_turn = [&] { return adds ? *turn++ : 0; };
    for (partner const& p : of.cut->partners) {
      for (segment const& one : adds ? p.ghosts : p.rims)
        if (is_here(one.component)) add(made.sends, made.packed, from_arrays, array_of(one.component), one, p.rank, 0);
      for (segment const& one : adds ? p.rims : p.ghosts) {
        int const when = next_turn();
        if (!is_here(one.component)) continue;
        add(made.receives, made.unpacked, made.arrays, array_of(one.component), one, p.rank, when);
        negate(array_of(one.component), one, when);
      }
    }
    for (own_copy const& o : of.cut->own) {
      int const when = next_turn();
      if (!is_here(o.ghosts.component) || !is_here(o.ghosts.other)) continue;
      segment const &to = adds ? o.origins : o.ghosts, &from = adds ? o.ghosts : o.origins;
      std::size_t const array = array_of(to.component), other = array_of(from.component);
      shape const &lies = *made.arrays[array].lies, &others = *made.arrays[other].lies;
      made.unpacked.push_back({array, to.box, strip_of(lies, to.box, to.box.numbers(), &others, from.steps, to.steps),
                               -1, bytes_to(others, from), when, other});
      negate(array, to, when);
    }
  }
  for (packed_box const& one : made.unpacked) made.turns = std::max(made.turns, one.turn + 1);
  auto const is_before = [](packed_box const& a, packed_box const& b) { return a.message < b.message; };
  for (auto* const parts : {&made.packed, &made.unpacked}) std::stable_sort(parts->begin(), parts->end(), is_before);
}

KEEL_INLINE void halo_plan::list(kept_jobs& jobs, motion how, motion copy, int turn,
                                 std::vector<packed_box> const& parts, std::span<message const> messages,
                                 std::span<halo_array const> arrays, packing const& where) const {
  bool const are_kept =
      jobs.placing == now_->placing && std::equal(jobs.data.begin(), jobs.data.end(), arrays.begin(), arrays.end(),
                                                  [](void const* data, halo_array const& a) { return data == a.data; });
  if (are_kept) return;
  jobs.placing = never, jobs.data.clear(), jobs.all.clear();
  for (halo_array const& a : arrays) jobs.data.push_back(a.data);
  for (packed_box const& one : parts) {
    if (one.turn != turn) continue;
    halo_array const& a = arrays[one.array];
    job made{how, a.lies->added_as, nullptr, nullptr, a.data, nullptr, one.which};
    if (one.message < 0) made.how = copy, made.buffer = static_cast<std::byte*>(arrays[one.other].data) + one.at;
    else if (message const& m = messages[std::size_t(one.message)]; m.data != nullptr) {
      made.buffer = m.data + one.at, made.flag = m.flag, made.count = m.count;
      if (m.flag != nullptr) made.piece_bytes = m.piece_bytes, made.first = one.at;
    } else continue;
    made.which.elements = where.queue().numbers(one.box);
    jobs.all.push_back(made);
  }
  jobs.placing = now_->placing;
}

KEEL_INLINE void halo_plan::pack(std::span<halo_array const> arrays, packing& where, bool is_unpacked) {
  auto const have_flags = [](std::vector<message> const& all) {
    return std::all_of(all.begin(), all.end(), [](message const& m) { return m.bytes == 0 || m.flag != nullptr; });
  };
  kept_jobs& jobs = now_->jobs[0];
  list(jobs, motion::gather, motion::copy, 0, now_->packed, now_->sends, arrays, where);
  is_unpacked_ = is_unpacked && where.queue() && now_->is_apart && (!adds() || now_->negated.empty()) &&
                 have_flags(now_->sends) && have_flags(now_->receives);
  if (is_unpacked_) {
    list_to_unpack(0, arrays, where);
    kept_jobs const& more = jobs_to_unpack(0);
    jobs.placing = never; // they are of this kernel
    jobs.all.insert(jobs.all.end(), more.all.begin(), more.all.end());
  }
  where.move(jobs.all);
}

KEEL_INLINE void halo_plan::unpack(std::span<halo_array const> arrays, packing& where) {
  auto const move = [&](kept_jobs& jobs) { where.move(jobs.all); };
  auto const negate = [&](int turn) {
    if (now_->negated.empty()) return;
    kept_jobs& jobs = now_->jobs[2 + 2 * std::size_t(turn)];
    list(jobs, motion::negate, motion::negate, turn, now_->negated, {}, arrays, where), move(jobs);
  };
  for (int turn = 0; turn < now_->turns; ++turn) {
    if (adds()) negate(turn); // minus what is there and the ghosts together, then the other sign
    if (!std::exchange(is_unpacked_, false)) list_to_unpack(turn, arrays, where), move(jobs_to_unpack(turn));
    negate(turn);
  }
}

KEEL_INLINE std::uint64_t bytes_sent(halo_array const& array, combine how) {
  std::uint64_t bytes = 0;
  for (partner const& p : array.cut->partners)
    for (segment const& one : how == combine::add ? p.ghosts : p.rims)
      if (one.component == array.component && p.rank >= 0)
        bytes += std::uint64_t(bytes_of(*array.lies, one.box, one.steps));
  return bytes;
}

} // namespace keel::residency::detail
