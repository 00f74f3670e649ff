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
#include <utility>
#include <vector>

namespace keel::residency::detail {

// Pieces begin at multiples of eight bytes, so that words of any length are aligned.
[[nodiscard]] inline std::size_t padded(shape const& lies, bounds const& box) {
  return (std::size_t(bytes_of(lies, box)) + 7) / 8 * 8;
}

// From an element to that which lies by `shift` from it.
[[nodiscard]] inline std::ptrdiff_t bytes_between(shape const& lies, indices const& shift) {
  std::int64_t elements = 0;
  for (int d = 0; d < lies.rank; ++d) elements += shift[d] * lies.stride[d];
  return elements * lies.element_bytes;
}

KEEL_INLINE void packing::move(std::span<box_move const> boxes) {
  if (queue_ == nullptr) {
    for (box_move const& b : boxes) move_on_host(b);
    return;
  }
  if (boxes.size() <= std::size_t{move_words::most}) return queue_->move(boxes);
  auto at = std::find_if(kept_.begin(), kept_.end(), [&](kept_moves const& k) {
    return std::equal(k.boxes.begin(), k.boxes.end(), boxes.begin(), boxes.end());
  });
  if (at == kept_.end()) {
    if (kept_.size() == most_kept) queue_->fence(), kept_.clear(); // of arrays that are no longer there
    kept_moves made{{boxes.begin(), boxes.end()}, pieces_of(boxes), {}};
    std::size_t const bytes = made.pieces.size() * sizeof(move_words::piece);
    made.there = queue_->allocate("keel: pieces of messages", bytes);
    queue_->to_device(made.there.get(), made.pieces.data(), bytes);
    at = kept_.insert(kept_.end(), std::move(made));
  }
  move_words all;
  all.count = int(at->pieces.size());
  all.listed = reinterpret_cast<move_words::piece const*>(at->there.get());
  all.words = at->pieces.empty() ? 0 : at->pieces.back().end;
  queue_->move(all);
}

KEEL_INLINE copy_queue const& packing::queue() const {
  static copy_queue const none;
  return queue_ != nullptr ? *queue_ : none;
}

KEEL_INLINE std::byte* packing::room(buffer& all, std::size_t bytes) {
  if (all.size >= bytes) return all.bytes.get();
  if (queue_ != nullptr) {
    queue_->fence(); // what the last exchange brought may not be unpacked yet
    all.bytes = queue_->allocate("keel: ghosts", bytes);
  } else {
    auto const words = std::make_shared<std::uint64_t[]>(bytes / 8);
    all.bytes = {words, reinterpret_cast<std::byte*>(words.get())};
  }
  all.size = bytes;
  return all.bytes.get();
}

KEEL_INLINE halo_plan::halo_plan(decomposition cut) : cut_(std::move(cut)), turns_(turns_of(cut_)) {
  for (partner const& p : cut_.partners) sends_.push_back({p.rank});
  receives_ = sends_;
}

KEEL_INLINE void halo_plan::lay_out(std::span<halo_array const> arrays, combine how) {
  auto const length = [&](std::vector<bounds> const& boxes) {
    std::size_t bytes = 0;
    for (bounds const& box : boxes)
      for (halo_array const& a : arrays) bytes += padded(*a.lies, box);
    return bytes;
  };
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    sends_[i].bytes = length(cut_.partners[i].rims);
    receives_[i].bytes = length(cut_.partners[i].ghosts);
    if (how == combine::add) std::swap(sends_[i].bytes, receives_[i].bytes);
  }
}

// All boxes of all partners, one after the other.
KEEL_INLINE void halo_plan::add(motion how, std::span<halo_array const> arrays, std::vector<bounds> partner::* boxes,
                                std::span<message const> messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::byte* packed = messages[i].data;
    if (packed == nullptr) continue;
    for (bounds const& box : cut_.partners[i].*boxes)
      for (halo_array const& a : arrays) {
        moves_.push_back({how, a.lies, a.data, packed, box});
        packed += padded(*a.lies, box);
      }
  }
}

KEEL_INLINE void halo_plan::pack(std::span<halo_array const> arrays, packing& where, combine how) {
  moves_.clear();
  add(motion::gather, arrays, how == combine::add ? &partner::ghosts : &partner::rims, sends_);
  where.move(moves_);
}

KEEL_INLINE void halo_plan::unpack(std::span<halo_array const> arrays, packing& where, combine how) {
  if (how == combine::add) return unpack_sums(arrays, where);
  moves_.clear();
  add(motion::scatter, arrays, &partner::ghosts, receives_);
  for (own_copy const& o : cut_.own)
    for (halo_array const& a : arrays)
      moves_.push_back(
          {motion::copy, a.lies, a.data, static_cast<std::byte*>(a.data) + bytes_between(*a.lies, o.shift), o.ghosts});
  where.move(moves_);
}

KEEL_INLINE void halo_plan::unpack_sums(std::span<halo_array const> arrays, packing& where) {
  int const last = turns_.empty() ? -1 : *std::max_element(turns_.begin(), turns_.end());
  for (int turn = 0; turn <= last; ++turn) {
    moves_.clear();
    auto next = turns_.begin();
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      std::byte* packed = receives_[i].data;
      for (bounds const& box : cut_.partners[i].rims) {
        bool const is_due = *next++ == turn;
        for (halo_array const& a : arrays) {
          if (is_due) moves_.push_back({motion::add, a.lies, a.data, packed, box});
          packed += padded(*a.lies, box);
        }
      }
    }
    for (own_copy const& o : cut_.own)
      if (*next++ == turn)
        for (halo_array const& a : arrays)
          moves_.push_back({motion::add_copy, a.lies, a.data,
                            static_cast<std::byte*>(a.data) - bytes_between(*a.lies, o.shift), o.cells()});
    where.move(moves_);
  }
}

KEEL_INLINE std::uint64_t halo_plan::bytes_sent(shape const& lies) const {
  std::uint64_t bytes = 0;
  for (partner const& p : cut_.partners)
    for (bounds const& box : p.rims) bytes += std::uint64_t(bytes_of(lies, box));
  return bytes;
}

} // namespace keel::residency::detail
