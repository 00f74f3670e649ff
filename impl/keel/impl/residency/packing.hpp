// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which pieces of arrays partners exchange, and where they are packed into messages and unpacked: on the
/// host, or on a device. The bodies stand in messages.hpp.

#include <keel/impl/residency/copy_queue.hpp>
#include <keel/impl/residency/decomposition.hpp>
#include <keel/policy/macros.hpp>
#include <keel/residency/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Packs on the host, at once; or, if a copy queue is connected, in its memory, after the kernels of its queue. Its
/// buffers, for messages that their transport has no place for, grow to the largest asked for.
class packing {
public:
  void connect(copy_queue const& there) { queue_ = &there; }
  /// Empty on the host.
  [[nodiscard]] copy_queue const& queue() const;

  std::byte* out(std::size_t bytes) { return room(out_, bytes); }
  std::byte* in(std::size_t bytes) { return room(in_, bytes); }
  /// By one kernel: of more boxes than travel with one, the list is sent once, and kept for the next time.
  void move(std::span<box_move const> boxes);

private:
  struct buffer {
    std::shared_ptr<std::byte> bytes;
    std::size_t size = 0;
  };
  std::byte* room(buffer& all, std::size_t bytes);

  /// Boxes that were moved before. The queue may still read `pieces`.
  struct kept_moves {
    std::vector<box_move> boxes;
    std::vector<move_words::piece> pieces;
    std::shared_ptr<std::byte> there;
  };
  static constexpr std::size_t most_kept = 32;

  copy_queue const* queue_ = nullptr;
  buffer out_, in_;
  std::vector<kept_moves> kept_;
};

/// What becomes of ghosts and what their owners hold: the ghosts are replaced, or added to it.
enum class combine : std::uint8_t { replace, add };
/// The entry of a schedule that does it.
[[nodiscard]] constexpr std::string_view name_of(combine how) {
  return how == combine::add ? "accumulate" : "exchange";
}

/// One array whose ghosts are to be filled, or added to their owners.
struct halo_array {
  shape const* lies;
  void* data;
};

/// Which pieces of arrays are exchanged: each partner gets one message with its pieces of all arrays. Messages without
/// data are left out.
class halo_plan {
public:
  explicit halo_plan(decomposition cut);

  /// How long the messages of these arrays are, one for each partner each way; their data are set by who sends them.
  void lay_out(std::span<halo_array const> arrays, combine how = combine::replace);
  [[nodiscard]] std::span<message> sends() { return sends_; }
  [[nodiscard]] std::span<message> receives() { return receives_; }
  void pack(std::span<halo_array const> arrays, packing& where, combine how = combine::replace);
  /// What came goes to the ghosts, and so do copies of this rank's own cells; or it is added to the owned cells, and so
  /// are ghosts of this rank's own cells.
  void unpack(std::span<halo_array const> arrays, packing& where, combine how = combine::replace);
  /// Bytes of one array that leave this rank in an exchange.
  [[nodiscard]] std::uint64_t bytes_sent(shape const& lies) const;

private:
  void add(motion how, std::span<halo_array const> arrays, std::vector<bounds> partner::* boxes,
           std::span<message const> messages);
  void unpack_sums(std::span<halo_array const> arrays, packing& where);

  decomposition cut_;
  std::vector<message> sends_, receives_; // by partner
  std::vector<box_move> moves_;           // of the exchange at work
  std::vector<int> turns_; // when each partner's rims are added to, in order, then each copy of own cells
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/messages.hpp>
#endif
