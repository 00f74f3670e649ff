// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/moves.hpp>
#include <keel/impl/layout/mesh_share.hpp>

#include <cstring>

namespace keel::residency::detail {

// `outer` without `inner`, cut into two slabs for each dimension.
inline void add_shell(box_set& set, bounds const& outer, bounds const& inner, int rank) {
  bounds rest = outer;
  for (int d = 0; d < rank; ++d) {
    bounds low = rest, high = rest;
    low.end[d] = rest.begin[d] = inner.begin[d];
    high.begin[d] = rest.end[d] = inner.end[d];
    if (low.size(rank) > 0) set.boxes[set.count++] = low;
    if (high.size(rank) > 0) set.boxes[set.count++] = high;
  }
}

// Core, owned, inside and everywhere are boxes, each in the next one, so rim, halo and walls are what lies between two
// of them, and regions that follow on each other are made of the same boxes as one.
KEEL_INLINE box_set boxes_of(share const& s, region where, bool has_ghosts) {
  box_set set;
  bounds const owned = s.owned();
  bounds const nested[] = {has_ghosts ? s.core() : owned, owned, has_ghosts ? s.inside() : owned,
                           has_ghosts ? s.everywhere() : owned};
  for (int first = 0; first < region_count; ++first) {
    if (!overlap(where, single_regions[first])) continue;
    int last = first;
    while (last + 1 < region_count && overlap(where, single_regions[last + 1])) ++last;
    if (first != 0) add_shell(set, nested[last], nested[first - 1], s.rank);
    else if (nested[last].size(s.rank) > 0) set.boxes[set.count++] = nested[last];
    first = last;
  }
  return set;
}

KEEL_INLINE box_set boxes_of(shape const& s, region where) {
  if (s.mesh != nullptr) return s.mesh->lists_of(where, s.has_ghosts);
  return boxes_of(s.part != nullptr ? *s.part : share{}, where, s.has_ghosts);
}

KEEL_INLINE box_set rim_first(share const& s, indices const& depth, bool with_own) {
  bounds const owned = s.owned();
  bounds core = owned;
  bool has_core = true, waits = false;
  for (int d = 0; d < s.rank; ++d) {
    bool const low = s.is_cut(d, side::low), high = s.is_cut(d, side::high);
    if (with_own ? !s.is_wall(d, side::low) : low) core.begin[d] += depth[d];
    if (with_own ? !s.is_wall(d, side::high) : high) core.end[d] -= depth[d];
    has_core = has_core && core.begin[d] < core.end[d];
    waits = waits || ((low || high) && depth[d] > 0);
  }
  box_set set;
  if (!waits) core = owned;
  else if (!has_core) return set;
  add_shell(set, owned, core, s.rank);
  set.boxes[set.count++] = core;
  return set;
}

KEEL_INLINE strip strip_of(shape const& s, bounds const& box, std::int32_t const* elements, shape const* from,
                           origin_steps const& steps) {
  shape const& other = from != nullptr ? *from : s;
  strip made;
  made.word_bytes = std::int16_t(s.element_bytes % 8 == 0 ? 8 : s.element_bytes % 4 == 0 ? 4 : 1);
  made.elements = elements;
  std::int64_t const words = s.element_bytes / made.word_bytes;
  made.words = 1;
  auto const add = [&](std::int64_t count, std::int64_t stride, std::int64_t way, bool is_listed = false) {
    made.words *= count;
    int const last = made.rank - 1;
    if (is_listed) made.listed = std::int16_t(made.rank);
    else if (count == 1) return; // costs an index, and moves nothing
    else if (last >= 0 && last != made.listed && made.stride[last] * made.count[last] == stride &&
             made.from[last] * made.count[last] == way) {
      made.count[last] *= count;
      return;
    }
    made.count[made.rank] = count, made.stride[made.rank] = stride, made.from[made.rank++] = way;
  };
  add(words, 1, 1);
  bool const inner_first = s.rank == 0 || s.inner_stride == 1;
  bool const ascending = s.rank > 1 && s.stride[0] < s.stride[s.rank - 1];
  auto const inner = [&] { add(s.inner, s.inner_stride * words, other.inner_stride * words * steps.inner); };
  if (inner_first) inner();
  for (int k = 0; k < s.rank; ++k) {
    int const d = ascending ? k : s.rank - 1 - k;
    made.first += box.begin[d] * s.stride[d] * words;
    add(box.end[d] - box.begin[d], s.stride[d] * words, other.stride[d] * words * steps.of[d], elements != nullptr);
  }
  if (!inner_first) inner();
  if (made.rank == 0) made.count[0] = made.stride[0] = made.from[0] = 1, made.rank = 1;
  return made;
}

// Moves the words of a strip on the calling thread, row by row: a row is what the first dimension counts.
struct move_rows {
  motion how;
  addend added_as;
  void* array_bytes;
  void* buffer_bytes;
  strip const s; // its own, so that no word that is written may be part of it

  template <class Word>
  void run() const {
    auto* const array = static_cast<Word*>(array_bytes);
    auto* const buffer = how == motion::poison ? array : static_cast<Word*>(buffer_bytes); // poison has none
    if (s.elements != nullptr) return run_listed(array, buffer);
    std::int64_t at = s.first, other = 0, done[strip::max]{};
    for (std::int64_t i = 0; i < s.words; i += s.count[0]) {
      row(array + at, buffer + (is_copy(how) ? other : i), s.count[0]);
      for (int d = 1; d < s.rank; ++d) { // to the next row, without a division
        at += s.stride[d], other += s.from[d];
        if (++done[d] < s.count[d]) break;
        at -= s.count[d] * s.stride[d], other -= s.count[d] * s.from[d], done[d] = 0;
      }
    }
  }

private:
  // A dimension may come before that of the elements, and one after it. Elements that follow on each other here and
  // there, without gaps between them, are one row; not so words alone, if few of them do.
  template <class Word>
  void run_listed(Word* array, Word* buffer) const {
    int const d = s.listed;
    std::int64_t const count = s.count[d], stride = s.stride[d], words = d == 0 ? 1 : s.count[0],
                       outer = d + 1 < s.rank ? s.count[d + 1] : 1;
    bool const copies = is_copy(how);
    std::int32_t const *const to = s.elements, *const from = to + count;
    auto const follows = [](std::int32_t const* list, std::int64_t n) { return list[n] == list[n - 1] + 1; };
    std::int64_t joined = 0;
    if (d == 0)
      for (std::int64_t n = 1; n < count; ++n) joined += follows(to, n) ? 1 : 0;
    bool const can_join = d == 0 ? joined * 4 >= count * 3 : s.count[0] * s.stride[0] == stride;
    for (std::int64_t k = 0, i = 0; k < outer; ++k) {
      std::int64_t const at = s.first + (d + 1 < s.rank ? k * s.stride[d + 1] : 0);
      auto const place = [&](auto n) { return to[n] * stride; };
      if (d != 0 || can_join)
        for (std::int64_t e = 0, end = 0; e < count; e = end) {
          for (++end; can_join && end < count && follows(to, end) && (!copies || follows(from, end));) ++end;
          row(array + at + place(e), buffer + (copies ? at + from[e] * stride : i + e * words), (end - e) * words);
        }
      else if (copies) move(array + at, buffer + at, count, place, [&](auto n) { return from[n] * stride; });
      else move(array + at, buffer + i, count, place, [](auto n) { return n; });
      i += count * words;
    }
  }
  template <class Word>
  void row(Word* at, Word* packed, std::int64_t length) const {
    std::int64_t const stride = s.stride[0], step = is_copy(how) ? s.from[0] : 1;
    std::size_t const bytes = std::size_t(length) * sizeof(Word);
    bool const is_plain = stride == 1 && step == 1 && !is_sum(how) && how != motion::poison && how != motion::negate;
    if (is_plain && length >= 8)
      std::memcpy(how == motion::gather ? packed : at, how == motion::gather ? at : packed, bytes);
    else move(at, packed, length, [=](auto n) { return n * stride; }, [=](auto n) { return n * step; });
  }
  template <class Word>
  void move(Word* at, Word* packed, std::int64_t length, auto const& place, auto const& other) const {
    if (is_sum(how))
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = sum_of(added_as, at[place(n)], packed[other(n)]);
    else if (how == motion::poison)
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = static_cast<Word>(~Word{0});
    else if (how == motion::negate)
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = negative_of(added_as, packed[other(n)]);
    else if (how == motion::gather)
      for (std::int64_t n = 0; n < length; ++n) packed[other(n)] = at[place(n)];
    else
      for (std::int64_t n = 0; n < length; ++n) at[place(n)] = packed[other(n)];
  }
};

KEEL_INLINE void move_on_host(box_move const& what) {
  strip const s = strip_of(*what.lies, what.box, what.elements, what.from, what.steps);
  with_word(s, move_rows{what.how, what.lies->added_as, what.array, what.buffer, s});
}

// Adds the words of a box to those of the jobs before; a box without words makes no job.
inline bool make_job(box_move const& b, std::int64_t& words, move_words::job& made) {
  strip const which = strip_of(*b.lies, b.box, b.elements, b.from, b.steps);
  if (which.words == 0) return false;
  words += which.words;
  made = {b.how, b.lies->added_as, b.number, b.flag, b.array, b.buffer, which, words};
  return true;
}

KEEL_INLINE std::size_t move_words::add(std::span<box_move const> boxes) {
  std::size_t taken = 0;
  for (; taken < boxes.size() && count < most; ++taken) {
    if (!make_job(boxes[taken], words, jobs[count])) continue;
    job const& made = jobs[count++];
    raises = raises || made.raises(), awaits = awaits || made.awaits();
  }
  return taken;
}

KEEL_INLINE std::vector<move_words::job> jobs_of(std::span<box_move const> boxes) {
  std::vector<move_words::job> all(boxes.size());
  std::size_t count = 0;
  std::int64_t words = 0;
  for (box_move const& b : boxes) count += make_job(b, words, all[count]) ? 1 : 0;
  all.resize(count);
  return all;
}

} // namespace keel::residency::detail
