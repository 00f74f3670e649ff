// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How boxes are packed into messages and unpacked, and which each neighbour gets: the bodies of packing.hpp.

#include <keel/impl/residency/boxes.hpp>
#include <keel/impl/residency/packing.hpp>
#include <keel/policy/macros.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace keel::residency::detail {

// Pieces begin at multiples of eight bytes, so that words of any length are aligned.
[[nodiscard]] inline std::size_t padded(shape const& lies, bounds const& box) {
  return (std::size_t(bytes_of(lies, box)) + 7) / 8 * 8;
}

KEEL_INLINE void packing::move(std::span<box_move const> boxes) {
  if (queue_ != nullptr) return queue_->move(boxes);
  for (box_move const& b : boxes) move_on_host(b);
}

KEEL_INLINE void packing::settle() {
  if (queue_ == nullptr) return;
  if (by_way_of_host_) queue_->to_host(out_.mail.get(), out_.packed.get(), out_.bytes);
  queue_->fence();
}

KEEL_INLINE void packing::collect() {
  if (by_way_of_host_) queue_->to_device(in_.packed.get(), in_.mail.get(), in_.bytes);
}

KEEL_INLINE std::byte* packing::room(buffer& all, std::size_t bytes) {
  constexpr auto label = "keel: ghosts";
  bool const is_short = all.bytes < bytes, lacks_mail = by_way_of_host_ && !all.mail;
  if (is_short && queue_ != nullptr) {
    queue_->fence(); // what the last exchange brought may not be unpacked yet
    all.packed = queue_->allocate(label, bytes);
  } else if (is_short) {
    auto const words = std::make_shared<std::uint64_t[]>(bytes / 8);
    all.packed = {words, reinterpret_cast<std::byte*>(words.get())};
  }
  if (is_short) all.bytes = bytes;
  if (by_way_of_host_ && (is_short || lacks_mail)) all.mail = queue_->allocate_on_host(label, all.bytes);
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
      moves_.push_back(
          {motion::copy, a.lies, a.data, static_cast<std::byte*>(a.data) + wrap_offset(*a.lies, n), ghost_box(n)});
  where.move(moves_);
}

// From a ghost to the owned cell that it is a copy of, if both are of this rank: through the grid's whole extent.
KEEL_INLINE std::ptrdiff_t halo_plan::wrap_offset(shape const& lies, int direction) const {
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

// The rank that lies in a direction; -1 if there is none, or nothing to exchange. Ranks are
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
