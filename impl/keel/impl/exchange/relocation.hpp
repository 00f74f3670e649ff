// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the values of elements go to other ranks and places. The bodies stand in relocate.hpp.

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/moves.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// Elements that change their rank or their place: local indices before, and after, rank by rank; of a grid boxes. One
/// way may lead to this rank itself.
struct element_moves {
  struct way {
    int rank;
    std::int32_t leave, leave_end, come, come_end; ///< numbers in the lists, or of boxes
  };
  std::vector<way> ways; ///< in ascending order of ranks
  std::vector<std::int32_t> leaving, coming;
  std::vector<bounds> leaving_boxes, coming_boxes; ///< instead of lists
  std::vector<std::int32_t> fresh;                 ///< elements that no rank has had

  [[nodiscard]] bool leaves() const { return !leaving.empty() || !leaving_boxes.empty(); }
  /// Leaves out those that stay on this rank, in their place.
  void leave_out_unmoved(int rank);
  void add(int rank, std::span<std::int32_t const> leave, std::span<std::int32_t const> come);
  void add(int rank, std::span<bounds const> leave, std::span<bounds const> come);
};

/// An array whose elements move, to itself or to another one in the same memory.
struct moved_array {
  element_moves const* moves;
  shape const *from_lies, *to_lies;
  void *from, *to;
  memory where;
};

/// One message to each rank, with the elements of all arrays, which are packed and unpacked where they lie. Its buffers
/// grow to the largest asked for, by half at least.
class relocation {
public:
  /// Makes room. Throws if there is none. The calls below are about the same arrays.
  void lay_out(std::span<moved_array const> arrays, kokkos_provider& by, int rank);
  /// Makes room for messages, too.
  void pack(messenger& ranks);
  /// Returns when all that comes is here; no array has changed.
  void exchange(messenger& ranks);
  /// Puts in place what came, and what stays on the rank.
  void unpack();
  /// Calls f(number of an array, bytes) for what leaves the rank.
  void for_each_sent(auto const& f) const {
    for (leg const& l : out_)
      if (!l.stays) f(l.array, l.bytes);
  }

private:
  struct leg {
    std::size_t array;
    std::int32_t first;    ///< in the list; negative if it is a box
    bounds box;            ///< or as many of the list as it counts
    std::size_t at, bytes; ///< in the buffer
    bool stays;
  };
  struct room {
    std::shared_ptr<std::byte> bytes;
    std::size_t size = 0;
  };
  /// Buffers of a device.
  struct device_rooms {
    room numbers, out, in;
    bool is_used = false;
  };
  static std::byte* grow(room& r, std::size_t bytes, auto const& allocate);
  [[nodiscard]] copy_queue const& queue_of(memory m) const { return by_->queue_of(m); }
  [[nodiscard]] box_move move_of(leg const& l, bool leaves) const;
  void until_done(auto const& begin);
  void begin_packing();
  void begin_unpacking();
  /// Moves all of these legs in one memory.
  void move(std::vector<leg> const& legs, memory m, bool leave);
  /// Calls f(begin, end) for the bytes of messages that one memory packs or unpacks.
  void for_each_run(std::vector<leg> const& legs, memory m, auto const& f) const;

  std::vector<moved_array> arrays_;
  std::vector<leg> out_, in_;
  std::vector<message> sends_, receives_;
  std::vector<std::pair<element_moves const*, std::size_t>> lists_; // where their numbers begin on devices
  std::vector<box_move> moves_;
  std::array<device_rooms, max_memories> there_;
  room mail_out_, mail_in_;
  std::size_t out_bytes_ = 0, in_bytes_ = 0;
  kokkos_provider* by_ = nullptr;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/relocate.hpp>
#endif
