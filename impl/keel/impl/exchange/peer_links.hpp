// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What `peer` has of each rank that it exchanges with.

#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/moves.hpp>
#include <keel/machine/host.hpp>
#include <keel/space/peer_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

/// Links to other ranks. A chunk of memory that the other one writes has flags, then two places for messages.
struct peer_links final : repeatable {
  /// How a rank finds a chunk of another's.
  struct address {
    space::peer_handle handle;
    std::uint64_t offset = 0, node = 0;
    char kind[16] = {}; ///< empty if there is no chunk
  };
  struct link {
    int rank;
    space::peer_memory::chunk mine = {};
    std::byte* theirs = nullptr;
    std::size_t theirs_bytes = 0;
    address sent = {}, came = {};
    std::shared_ptr<std::byte> counts = nullptr;             ///< of flags raised, then of those awaited: see `message`
    std::size_t out = 0, in = 0;                             ///< bytes of the messages at work
    bool is_second = false;                                  ///< which place they have
    bool is_at_work = false, raises = false, awaits = false; ///< the last two: here, because no other kernel does
    bool is_new = false;                                     ///< `mine`, of which the other one has to hear

    /// Where its message lies in a chunk.
    [[nodiscard]] std::byte* place_in(std::byte* chunk, std::size_t bytes) const {
      std::size_t const first = flag_bytes(bytes);
      return chunk + first + (is_second ? (bytes - first) / 512 * 256 : 0);
    }
  };

  ~peer_links() override {
    if (memory == nullptr || is_under_way) return; // others may still write there
    for (link const& l : all)
      if (l.mine.at != nullptr) memory->give_back(l.mine);
  }
  /// One that is not there yet is made, and others may move.
  link& to(int rank) {
    auto const at = std::lower_bound(all.begin(), all.end(), rank, [](link const& l, int r) { return l.rank < r; });
    if (at != all.end() && at->rank == rank) return *at;
    changes = new_state();
    return *all.insert(at, link{rank});
  }
  /// A message goes in a thousand pieces at most, which are not so short that their flags cost more than they do.
  static std::uint32_t piece_of(std::size_t message) {
    return std::uint32_t(std::max(least_piece, (message / 1024 + 256) / 256 * 256));
  }
  /// What a chunk has of them.
  static std::size_t flag_bytes(std::size_t chunk) { return chunk < 8 * least_piece ? 256 : most_flag_bytes; }
  static std::size_t bytes_for(std::size_t message) {
    std::size_t const two = 2 * ((message + 255) / 256 * 256);
    return space::peer_memory::rounded((two <= 4 * least_piece ? 256 : most_flag_bytes) + two);
  }
  /// Takes a chunk for messages from the other rank, its flags as this rank has counted them.
  void take(queue const& by, link& l, std::size_t bytes) {
    if (l.counts == nullptr) {
      l.counts = by.allocate("keel: numbers of messages", 2 * most_flag_bytes);
      std::vector<std::byte> const none(2 * most_flag_bytes);
      by.to_device(l.counts.get(), none.data(), none.size()), by.fence();
    }
    if (l.mine.at != nullptr) {
      by.fence(); // the last message may not be unpacked yet
      memory->give_back(l.mine);
      l.mine = {};
    }
    l.mine = memory->take(bytes), changes = new_state();
    by.copy(l.mine.at, l.counts.get() + most_flag_bytes, flag_bytes(l.mine.bytes)), by.fence();
    l.sent = {l.mine.handle, l.mine.offset, machine::kernel_identity(), {}};
    std::strncpy(l.sent.kind, memory->kind(), sizeof l.sent.kind - 1);
  }
  /// Maps the other rank's chunk, or says why it cannot.
  std::string map(link& l, std::size_t bytes) {
    if (l.came.node != machine::kernel_identity()) return "it is on another node";
    if (memory == nullptr || std::string_view(l.came.kind) != memory->kind())
      return "its data are in memory that cannot be mapped from here";
    std::string why;
    l.theirs = memory->map(l.came.handle, l.came.offset, why);
    l.theirs_bytes = bytes, changes = new_state();
    return why;
  }
  /// Flags of the exchange at work, in the other rank's chunk or in that of this one.
  [[nodiscard]] static message raised(link const& l) { return signal(l, l.theirs, l.out, 0); }
  [[nodiscard]] static message awaited(link const& l) { return signal(l, l.mine.at, l.in, most_flag_bytes); }
  void raise(queue const& by) {
    flags.clear();
    for (link const& l : all)
      if (l.raises) flags.push_back(raised(l));
    by.raise(flags);
  }
  void await(queue const& by) {
    flags.clear();
    for (link const& l : all)
      if (l.awaits) flags.push_back(awaited(l));
    by.await(flags);
  }

  void add_state(std::vector<std::uint32_t>& state) const override {
    state.push_back(changes);
    for (link const& l : all) state.push_back(l.is_second ? 1 : 0);
  }
  void take_state(std::span<std::uint32_t const>& state) override {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].is_second = state[i + 1] != 0;
    state = state.subspan(all.size() + 1);
  }

  static constexpr std::size_t least_piece = 2048, most_flag_bytes = 4096;

  space::peer_memory* memory = nullptr;
  std::uint32_t changes = new_state(); // of chunks and links
  std::vector<link> all;               // by rank
  std::vector<message> flags;          // to raise or to await; kept, so that no exchange allocates
  bool is_under_way = false;

private:
  static message signal(link const& l, std::byte* chunk, std::size_t bytes, std::size_t counted) {
    auto const words = [](std::byte* at) { return reinterpret_cast<std::uint32_t*>(at); };
    return {l.rank, nullptr, bytes, words(chunk), words(l.counts.get() + counted), piece_of(bytes)};
  }
};

} // namespace keel::residency::detail
