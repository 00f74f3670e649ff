// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the values of elements go to other ranks and places. The bodies stand in relocation.ipp.

#include <keel/exchange/kokkos_provider.hpp>
#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/moves.hpp>
#include <keel/policy/macros.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Elements by the rank that they go to, or come from: local indices, or boxes of a grid.
struct elements_by_rank {
  struct group {
    int rank;
    std::int32_t begin, end; ///< numbers in the list, or of boxes
  };
  std::vector<group> groups; ///< of each rank one at most
  std::vector<std::int32_t> elements;
  std::vector<bounds> boxes; ///< instead of the list

  void add(int rank, std::span<std::int32_t const> more);
  void add(int rank, bounds const& box);
};

/// Elements that change their rank or their place. Ranks list those that one sends the other in the same order; this
/// rank may be among them.
struct element_moves {
  static constexpr int no_rank = -1; ///< new elements come from it
  elements_by_rank leave, come;

  /// Leaves out those that stay on this rank, in their place. This rank's have to be the last.
  void leave_out_unmoved(int rank);
};

/// An array whose elements move, to itself or to another one in the same memory.
struct moved_array {
  element_moves const* moves;
  shape const *from_lies, *to_lies;
  void *from, *to;
  memory where;

  /// What comes, or leaves: its elements, how its array lies, and where.
  [[nodiscard]] elements_by_rank const& elements(bool comes) const { return comes ? moves->come : moves->leave; }
  [[nodiscard]] shape const& lies(bool comes) const { return comes ? *to_lies : *from_lies; }
  [[nodiscard]] void* array(bool comes) const { return comes ? to : from; }
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
  /// Puts in place what came, what stays on the rank, and new elements.
  void unpack();
  /// Calls f(number of an array, bytes) for what leaves the rank.
  void for_each_sent(auto const& f) const {
    for (leg const& l : out_.legs)
      if (l.rank != rank_) f(l.array, l.bytes);
  }
  /// Calls f(number of an array, its new elements, where to pack their values); before `unpack`.
  void for_each_new(auto const& f) const {
    for (leg const& l : in_.legs)
      if (l.rank == element_moves::no_rank)
        f(l.array, std::span(arrays_[l.array].moves->come.elements).subspan(std::size_t(l.first), l.count()),
          in_.rooms[0].bytes.get() + l.at);
  }

private:
  struct leg {
    std::size_t array;
    int rank;
    std::int32_t first;    ///< in the list; negative if it is a box
    bounds box;            ///< or as many of the list as it counts
    std::size_t at, bytes; ///< in the buffer
    [[nodiscard]] std::size_t count() const { return std::size_t(box.end[0]); }
  };
  struct room {
    std::shared_ptr<std::byte> bytes;
    std::size_t size = 0;
  };
  /// What leaves, or what comes. Messages are in the host's buffer.
  struct side {
    bool comes;
    std::vector<leg> legs = {};
    std::vector<message> messages = {};
    std::size_t bytes = 0;
    std::array<room, max_memories> rooms = {}; ///< buffers, by memory
  };
  static std::byte* grow(room& r, std::size_t bytes, auto const& allocate);
  void find_legs(side& s);
  [[nodiscard]] box_move move_of(leg const& l, side const& s) const;
  /// Moves all legs of arrays in one memory.
  void move(side const& s, memory m);
  /// Calls f(first, bytes) for the runs of a buffer that travel between memory `m` and the host.
  void for_each_run(side const& s, memory m, auto const& f) const;
  /// Calls f(memory, its queue) for each device that arrays are on, moves on the host, and returns when all is done.
  void run(side const& s, auto const& f);

  std::vector<moved_array> arrays_;
  side out_{.comes = false}, in_{.comes = true};
  std::vector<std::pair<element_moves const*, std::size_t>> lists_; // where their numbers begin on devices
  std::array<room, max_memories> numbers_;
  std::vector<memory> devices_;
  std::vector<copy_queue const*> queues_; // of these
  std::vector<box_move> moves_;
  kokkos_provider* by_ = nullptr;
  int rank_ = 0;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/relocation.ipp>
#endif
