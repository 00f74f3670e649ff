// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which boxes make a region, how their words move, and how they are packed into messages: the bodies of strip.hpp,
/// packing.hpp.
///
/// Long because messages, copies and poison move the same boxes by the same words.

#include <keel/impl/residency/packing.hpp>
#include <keel/impl/residency/strip.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace keel::residency::detail {

// Pieces begin at multiples of eight bytes, so that words of any length are aligned.
[[nodiscard]] inline std::size_t padded(shape const& lies, bounds const& box) {
  return (std::size_t(bytes_of(lies, box)) + 7) / 8 * 8;
}

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
      if (side_by_side > 1) {
        std::size_t const bytes = std::size_t(side_by_side) * sizeof(Word);
        if (how == motion::gather) std::memcpy(buffer + i, at, bytes);
        else if (how == motion::poison) std::memset(at, 0xff, bytes);
        else std::memcpy(at, buffer + (how == motion::copy ? s[i] : i), bytes);
        i += side_by_side;
        continue;
      }
      // one dimension of single words, with a fixed stride
      int const d = solid && s.rank > 1 ? 1 : 0;
      std::int64_t const length = s.count[d], stride = s.stride[d];
      for (std::int64_t k = 0; k < length; ++k)
        if (how == motion::gather) buffer[i + k] = at[k * stride];
        else if (how == motion::poison) at[k * stride] = static_cast<Word>(~Word{0});
        else at[k * stride] = how == motion::copy ? buffer[s[i] + k * stride] : buffer[i + k];
      i += length;
    }
  }
};

KEEL_INLINE void move_on_host(box_move const& what) {
  strip const s = strip_of(*what.lies, what.box);
  with_word(s, move_runs{what.how, what.array, what.buffer, s});
}

KEEL_INLINE std::size_t move_words::add(std::span<box_move const> boxes) {
  std::size_t taken = 0;
  for (; taken < boxes.size() && count < most; ++taken) {
    box_move const& b = boxes[taken];
    strip const which = strip_of(*b.lies, b.box);
    if (which.words != 0) pieces[count] = {b.how, b.array, b.buffer, which, words() + which.words}, ++count;
  }
  return taken;
}

KEEL_INLINE void packing::move(std::span<box_move const> boxes) {
  if (lane_ != nullptr) return lane_->move(boxes);
  for (box_move const& b : boxes) move_on_host(b);
}

KEEL_INLINE void packing::settle() {
  if (lane_ == nullptr) return;
  if (by_way_of_host_) lane_->to_host(out_.mail.get(), out_.packed.get(), out_.bytes);
  lane_->fence();
}

KEEL_INLINE void packing::collect() {
  if (by_way_of_host_) lane_->to_device(in_.packed.get(), in_.mail.get(), in_.bytes);
}

KEEL_INLINE std::byte* packing::room(buffer& all, std::size_t bytes) {
  constexpr auto label = "keel: ghosts";
  bool const is_short = all.bytes < bytes, lacks_mail = by_way_of_host_ && !all.mail;
  if (is_short && lane_ != nullptr) {
    lane_->fence(); // what the last exchange brought may not be unpacked yet
    all.packed = lane_->allocate(label, bytes);
  } else if (is_short) {
    auto const words = std::make_shared<std::uint64_t[]>(bytes / 8);
    all.packed = {words, reinterpret_cast<std::byte*>(words.get())};
  }
  if (is_short) all.bytes = bytes;
  if (by_way_of_host_ && (is_short || lacks_mail)) all.mail = lane_->allocate_on_host(label, all.bytes);
  return all.packed.get();
}

KEEL_INLINE halo_plan::halo_plan(int rank, share const& s) : share_(s), rank_(rank) {
  int directions = 1;
  for (int d = 0; d < s.rank; ++d) directions *= 3;
  for (int n = 0; n < directions; ++n)
    if (int const r = rank_at(n); r == rank) {
      own_directions_.push_back(n);
    } else if (r >= 0) {
      auto const at = std::find_if(partners_.begin(), partners_.end(), [&](partner const& p) { return p.rank == r; });
      (at != partners_.end() ? *at : partners_.emplace_back(partner{r, {}})).directions.push_back(n);
    }
}

KEEL_INLINE void halo_plan::lay_out(std::span<halo_array const> arrays, packing& where) {
  std::size_t bytes = 0;
  for (partner& p : partners_) {
    p.begin = bytes;
    for (int n : p.directions)
      for (halo_array const& a : arrays) bytes += padded(*a.lies, rim_box(n));
    p.bytes = bytes - p.begin;
  }
  where.out(bytes);
  where.in(bytes);
}

KEEL_INLINE std::byte* halo_plan::add(motion how, std::span<halo_array const> arrays, bounds const& box,
                                      std::byte* packed) {
  for (halo_array const& a : arrays) {
    moves_.push_back({how, a.lies, a.data, packed, box});
    packed += padded(*a.lies, box);
  }
  return packed;
}

KEEL_INLINE void halo_plan::pack(std::span<halo_array const> arrays, packing& where) {
  moves_.clear();
  std::byte* at = where.out(0);
  for (partner const& p : partners_)
    for (int n : p.directions) at = add(motion::gather, arrays, rim_box(n), at);
  where.move(moves_);
}

KEEL_INLINE void halo_plan::unpack(std::span<halo_array const> arrays, packing& where) {
  moves_.clear();
  std::byte* at = where.in(0);
  for (partner const& p : partners_)
    for (auto n = p.directions.rbegin(); n != p.directions.rend(); ++n)
      at = add(motion::scatter, arrays, ghost_box(*n), at);
  for (int n : own_directions_)
    for (halo_array const& a : arrays)
      moves_.push_back({motion::copy, a.lies, a.data, static_cast<std::byte*>(a.data) + way_round(*a.lies, n),
                        ghost_box(n)});
  where.move(moves_);
}

// From a ghost to the owned cell that it is a copy of, where both are of this rank: through the grid's whole extent.
KEEL_INLINE std::ptrdiff_t halo_plan::way_round(shape const& lies, int direction) const {
  bounds const own = share_.owned();
  std::int64_t elements = 0;
  for (int d = 0; d < share_.rank; ++d, direction /= 3)
    elements -= (direction % 3 - 1) * (own.end[d] - own.begin[d]) * lies.stride[d];
  return elements * lies.element_bytes;
}

KEEL_INLINE std::uint64_t halo_plan::bytes_sent(shape const& lies) const {
  std::uint64_t bytes = 0;
  for (partner const& p : others())
    for (int n : p.directions) bytes += std::uint64_t(bytes_of(lies, rim_box(n)));
  return bytes;
}

// The rank that lies in a direction; -1 where there is none, or nothing to exchange. Ranks are
// numbered by position, so steps in several dimensions add up.
KEEL_INLINE int halo_plan::rank_at(int direction) const {
  int r = rank_;
  bool somewhere = false;
  for (int d = 0; d < share_.rank; ++d, direction /= 3) {
    if (direction % 3 == 1) continue;
    int const next = share_.neighbour[std::size_t(d)][std::size_t(direction % 3 / 2)];
    if (next < 0 || share_.width[d] == 0) return -1;
    r += next - rank_;
    somewhere = true;
  }
  return somewhere ? r : -1;
}

KEEL_INLINE bounds halo_plan::rim_box(int direction) const {
  bounds b = share_.owned();
  for (int d = 0; d < share_.rank; ++d, direction /= 3) {
    if (direction % 3 == 0) b.end[d] = b.begin[d] + share_.width[d];
    if (direction % 3 == 2) b.begin[d] = b.end[d] - share_.width[d];
  }
  return b;
}

KEEL_INLINE bounds halo_plan::ghost_box(int direction) const {
  bounds b = rim_box(direction);
  for (int d = 0; d < share_.rank; ++d, direction /= 3) {
    std::int64_t const shift = (direction % 3 - 1) * share_.width[d];
    b.begin[d] += shift, b.end[d] += shift;
  }
  return b;
}

} // namespace keel::residency::detail
