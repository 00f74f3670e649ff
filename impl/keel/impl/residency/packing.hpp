// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which boxes of arrays neighbouring ranks exchange, and where they are packed into messages and unpacked: on the
/// host, or on a device. The bodies stand in messages.hpp.

#include <keel/impl/residency/copy_queue.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/grid.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace keel::residency::detail {

/// Packs on the host, at once; or, if a copy queue is connected, in its memory, after the kernels of its queue. Boxes
/// move from and to `out` and `in`; messages leave from `mail_out` and arrive at `mail_in`, which are the same, or,
/// if MPI does not reach the device's memory, one piece of host memory each way. Buffers grow to the largest asked
/// for.
class packing {
public:
  void connect(copy_queue const& there, bool by_way_of_host) { queue_ = &there, by_way_of_host_ = by_way_of_host; }
  [[nodiscard]] bool is_behind_caller() const { return queue_ != nullptr; }

  std::byte* out(std::size_t bytes) { return room(out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, bytes); }
  [[nodiscard]] std::byte* mail_out() const { return by_way_of_host_ ? out_.mail.get() : out_.packed.get(); }
  [[nodiscard]] std::byte* mail_in() const { return by_way_of_host_ ? in_.mail.get() : in_.packed.get(); }
  void move(std::span<box_move const> boxes);
  /// Returns when what was packed may leave, and more may arrive.
  void settle();
  /// What arrived may be unpacked.
  void collect();

private:
  struct buffer {
    std::shared_ptr<std::byte> packed, mail;
    std::size_t bytes = 0;
  };
  std::byte* room(buffer& all, std::size_t bytes);

  copy_queue const* queue_ = nullptr;
  bool by_way_of_host_ = false;
  buffer out_, in_;
};

/// One array whose ghosts are to be filled.
struct halo_array {
  shape const* lies;
  void* data;
};

/// Which ranks exchange what with this rank: each rank that lies in some direction, corners included, gets one message
/// with the rims of all arrays. If that is this rank itself, its ghosts are copied from its own cells. A direction is a
/// number of one base-3 digit a dimension: 0 low, 1 here, 2 high.
class halo_plan {
public:
  halo_plan(int rank, share const& s);

  /// A rank that lies in some direction, and its piece of both buffers.
  struct partner {
    int rank;
    std::vector<int> directions; ///< ascending
    std::size_t begin = 0, bytes = 0;
  };
  /// Makes room for these arrays, and finds out where their messages begin.
  void lay_out(std::span<halo_array const> arrays, packing& where);
  /// The other ranks; each sends one message and gets one.
  [[nodiscard]] std::span<partner const> others() const { return partners_; }
  void pack(std::span<halo_array const> arrays, packing& where);
  /// What came goes to the ghosts. The partner packed the opposite directions, in their order.
  void unpack(std::span<halo_array const> arrays, packing& where);
  /// Bytes of one array that leave this rank in an exchange.
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const;

private:
  [[nodiscard]] int rank_at(int direction) const;
  [[nodiscard]] bounds rim_box(int direction) const;
  [[nodiscard]] bounds ghost_box(int direction) const;
  [[nodiscard]] std::ptrdiff_t wrap_offset(shape const& lies, int direction) const;
  std::byte* add(motion how, std::span<halo_array const> arrays, bounds const& box, std::byte* packed);

  share share_;
  int rank_;
  std::vector<partner> partners_;
  std::vector<int> own_directions_;
  std::vector<box_move> moves_; // of the exchange at work
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/messages.hpp>
#endif
