// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which boxes make a region, and how their words move: the bodies of strip.hpp.

#include <keel/impl/residency/strip.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

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

KEEL_INLINE box_set rim_first(share const& s, bool with_own) {
  bounds const owned = s.owned();
  bounds core = s.core(), waits_for_none = core;
  for (int d = 0; d < s.rank; ++d)
    if (s.processes[d] == 1) waits_for_none.begin[d] = owned.begin[d], waits_for_none.end[d] = owned.end[d];
  box_set set;
  if (waits_for_none == owned) core = owned;
  else if (!with_own) core = waits_for_none;
  if (core.size(s.rank) == 0) core = owned;
  add_shell(set, owned, core, s.rank);
  set.boxes[set.count++] = core;
  return set;
}

KEEL_INLINE strip strip_of(shape const& s, bounds const& box) {
  strip made;
  made.word_bytes = s.element_bytes % 8 == 0 ? 8 : s.element_bytes % 4 == 0 ? 4 : 1;
  std::int64_t const words = s.element_bytes / made.word_bytes;
  made.words = 1;
  auto const add = [&](std::int64_t count, std::int64_t stride) {
    made.words *= count;
    int const last = made.rank - 1;
    if (last >= 0 && made.stride[last] * made.count[last] == stride) made.count[last] *= count;
    else made.count[made.rank] = count, made.stride[made.rank++] = stride;
  };
  add(words, 1);
  bool const inner_first = s.rank == 0 || s.inner_stride == 1;
  bool const ascending = s.rank > 1 && s.stride[0] < s.stride[s.rank - 1];
  if (inner_first) add(s.inner, s.inner_stride * words);
  for (int k = 0; k < s.rank; ++k) {
    int const d = ascending ? k : s.rank - 1 - k;
    made.first += box.begin[d] * s.stride[d] * words;
    add(box.end[d] - box.begin[d], s.stride[d] * words);
  }
  if (!inner_first) add(s.inner, s.inner_stride * words);
  return made;
}

// Moves the words of a strip on the calling thread, run by run.
struct move_runs {
  motion how;
  addend added_as;
  void* array_bytes;
  void* buffer_bytes;
  strip const& s;

  template <class Word>
  void run() const {
    if (s.words == 0) return;
    auto* const array = static_cast<Word*>(array_bytes);
    auto* const buffer = static_cast<Word*>(buffer_bytes);
    bool const solid = s.stride[0] == 1;
    std::int64_t const side_by_side = solid ? s.count[0] : 1;
    for (std::int64_t i = 0; i < s.words;) {
      Word* const at = array + s[i];
      if (side_by_side > 1 && !is_sum(how)) {
        std::size_t const bytes = std::size_t(side_by_side) * sizeof(Word);
        if (how == motion::gather) std::memcpy(buffer + i, at, bytes);
        else if (how == motion::poison) std::memset(at, 0xff, bytes);
        else std::memcpy(at, buffer + (how == motion::copy ? s[i] : i), bytes);
        i += side_by_side;
        continue;
      }
      // one dimension, with a fixed stride
      int const d = solid && side_by_side == 1 && s.rank > 1 ? 1 : 0;
      std::int64_t const length = s.count[d], stride = s.stride[d];
      for (std::int64_t k = 0; k < length; ++k)
        if (how == motion::gather) buffer[i + k] = at[k * stride];
        else if (how == motion::poison) at[k * stride] = static_cast<Word>(~Word{0});
        else {
          Word const from = is_copy(how) ? buffer[s[i] + k * stride] : buffer[i + k];
          at[k * stride] = is_sum(how) ? sum_of(added_as, at[k * stride], from) : from;
        }
      i += length;
    }
  }
};

KEEL_INLINE void move_on_host(box_move const& what) {
  strip const s = strip_of(*what.lies, what.box);
  with_word(s, move_runs{what.how, what.lies->added_as, what.array, what.buffer, s});
}

// Adds the words of a box to those of the pieces before; a box without words makes no piece.
inline bool make_piece(box_move const& b, std::int64_t& words, move_words::piece& made) {
  strip const which = strip_of(*b.lies, b.box);
  if (which.words == 0) return false;
  words += which.words;
  made = {b.how, b.lies->added_as, b.array, b.buffer, which, words};
  return true;
}

KEEL_INLINE std::size_t move_words::add(std::span<box_move const> boxes) {
  std::size_t taken = 0;
  for (; taken < boxes.size() && count < most; ++taken) count += make_piece(boxes[taken], words, pieces[count]) ? 1 : 0;
  return taken;
}

KEEL_INLINE std::vector<move_words::piece> pieces_of(std::span<box_move const> boxes) {
  std::vector<move_words::piece> all(boxes.size());
  std::size_t count = 0;
  std::int64_t words = 0;
  for (box_move const& b : boxes) count += make_piece(b, words, all[count]) ? 1 : 0;
  all.resize(count);
  return all;
}

} // namespace keel::residency::detail
