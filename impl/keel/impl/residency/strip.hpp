// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which elements of an array make a region, as strided runs of words, whatever the array's
/// type: so one kernel for each word length packs them all.

#include <keel/policy/macros.hpp>
#include <keel/residency/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace keel::residency::detail {

/// Disjoint boxes that make a region.
struct box_set {
  bounds boxes[2 * 2 * max_grid_rank];
  int count = 0;
};

/// `outer` without `inner`, cut into two slabs for each dimension.
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

/// The boxes of a region. Core, owned, inside and everywhere are boxes, each in the next one, so rim, halo and walls are
/// what lies between two of them, and regions that follow on each other are made of the same boxes as one. Without ghosts
/// all owned cells are core.
inline box_set boxes_of(share const& s, region where, bool has_ghosts = true) {
  box_set set;
  bounds const owned = s.owned();
  bounds const nested[] = {has_ghosts ? s.core() : owned, owned, has_ghosts ? s.inside() : owned, has_ghosts ? s.everywhere() : owned};
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

/// How the elements of one variable lie: `inner` elements at each point of the grid.
struct shape {
  int rank = 0; ///< dimensions of the grid that the variable lies on; 0 where it does not
  std::int64_t stride[max_grid_rank]{}; ///< in elements
  std::int64_t inner = 1, inner_stride = 1;
  std::int64_t element_bytes = 1, elements = 1;
  bool has_ghosts = true;
  region all = region::none; ///< the regions that, together, are the whole array; none where no regions are

  [[nodiscard]] int word_bytes() const { return element_bytes % 8 == 0 ? 8 : element_bytes % 4 == 0 ? 4 : 1; }
};

/// Elements of a box in words, fastest dimension first, dimensions that follow on each other joined.
struct strip {
  static constexpr int max = max_grid_rank + 2;
  std::int64_t count[max]{}, stride[max]{};
  std::int64_t first = 0, words = 0;
  int rank = 0;

  /// Where word number `i` of the strip lies in the array.
  KEEL_FUNCTION std::int64_t operator[](std::int64_t i) const {
    std::int64_t at = first;
    for (int d = 0; d < rank; ++d) {
      std::int64_t const next = i / count[d];
      at += (i - next * count[d]) * stride[d];
      i = next;
    }
    return at;
  }
};

inline strip strip_of(shape const& s, bounds const& box) {
  strip made;
  std::int64_t const words = s.element_bytes / s.word_bytes();
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

/// What happens to the words of a strip.
enum class motion { gather, scatter, poison };

/// The kernel: `array` and `buffer` in the memory where it runs.
template <class Word, motion M>
struct move_words {
  Word* array;
  Word* buffer;
  strip which;

  KEEL_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (M == motion::gather) buffer[i] = array[which[i]];
    else if constexpr (M == motion::scatter) array[which[i]] = buffer[i];
    else array[which[i]] = static_cast<Word>(~Word{0});
  }
};

/// The same on the calling thread, run by run.
template <class Word, motion M>
void move_on_host(Word* array, Word* buffer, strip const& s) {
  if (s.words == 0) return;
  bool const solid = s.stride[0] == 1;
  std::int64_t const run = solid ? s.count[0] : 1;
  for (std::int64_t i = 0; i < s.words;) {
    Word* const at = array + s[i];
    if (run > 1) {
      if constexpr (M == motion::gather) std::memcpy(buffer + i, at, std::size_t(run) * sizeof(Word));
      else if constexpr (M == motion::scatter) std::memcpy(at, buffer + i, std::size_t(run) * sizeof(Word));
      else std::memset(at, 0xff, std::size_t(run) * sizeof(Word));
      i += run;
      continue;
    }
    // one dimension of single words, with a fixed stride
    int const d = solid && s.rank > 1 ? 1 : 0;
    std::int64_t const length = s.count[d], stride = s.stride[d];
    for (std::int64_t k = 0; k < length; ++k)
      if constexpr (M == motion::gather) buffer[i + k] = at[k * stride];
      else if constexpr (M == motion::scatter) at[k * stride] = buffer[i + k];
      else at[k * stride] = static_cast<Word>(~Word{0});
    i += length;
  }
}

/// Calls `f(Word{})` for the word that the shape is moved in.
template <class F>
void with_word(shape const& s, F&& f) {
  if (s.word_bytes() == 8) f(std::uint64_t{});
  else if (s.word_bytes() == 4) f(std::uint32_t{});
  else f(std::uint8_t{});
}

template <motion M>
void move_on_host(shape const& s, void* array, void* buffer, bounds const& box) {
  with_word(s, [&]<class Word>(Word) {
    move_on_host<Word, M>(static_cast<Word*>(array), static_cast<Word*>(buffer), strip_of(s, box));
  });
}

[[nodiscard]] inline std::int64_t bytes_of(shape const& s, bounds const& box) {
  return box.size(s.rank) * s.inner * s.element_bytes;
}

} // namespace keel::residency::detail
