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
#include <utility>
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
    std::uint16_t at = 0; ///< its place among the words
    space::peer_memory::chunk mine = {};
    std::byte* theirs = nullptr;
    std::size_t theirs_bytes = 0;
    address sent = {}, came = {};
    std::uint32_t number = 1;                                ///< of its last exchange; the first tries the way
    std::size_t out = 0, in = 0;                             ///< bytes of the messages at work
    bool is_at_work = false, raises = false, awaits = false; ///< the last two: here, because no other kernel does
    bool is_new = false;                                     ///< `mine`, of which the other one has to hear
    std::uint32_t from = 1, there = 0;                       ///< `number` when work began that can run again; the word

    /// Where its message lies in a chunk.
    [[nodiscard]] std::byte* place_in(std::byte* chunk, std::size_t bytes) const {
      std::size_t const first = flag_bytes(bytes);
      return chunk + first + (number % 2 != 0 ? (bytes - first) / 512 * 256 : 0);
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
    return *all.insert(at, link{rank, std::uint16_t(all.size())});
  }
  /// A message goes in a thousand pieces at most, which are not so short that their flags cost more than they do.
  static std::uint32_t piece_of(std::size_t message) {
    return std::uint32_t(std::max(least_piece, (message / 1024 + 256) / 256 * 256));
  }
  /// What a chunk has of them.
  static std::size_t flag_bytes(std::size_t chunk) { return chunk < 8 * least_piece ? 256 : 4096; }
  static std::size_t bytes_for(std::size_t message) {
    std::size_t const two = 2 * ((message + 255) / 256 * 256);
    return space::peer_memory::rounded((two <= 4 * least_piece ? 256 : 4096) + two);
  }
  /// Takes a chunk for messages from the other rank, its flag as of the last exchange.
  void take(queue const& by, link& l, std::size_t bytes) {
    if (l.mine.at != nullptr) {
      by.fence(); // the last message may not be unpacked yet
      memory->give_back(l.mine);
      l.mine = {};
    }
    l.mine = memory->take(bytes), changes = new_state();
    std::vector<std::uint32_t> const last(flag_bytes(l.mine.bytes) / sizeof(std::uint32_t), l.number - 1);
    by.to_device(l.mine.at, last.data(), flag_bytes(l.mine.bytes)), by.fence();
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
  /// That of the exchange at work.
  [[nodiscard]] message signal(link const& l, std::byte* chunk, std::size_t bytes) const {
    if (!can_repeat) return {l.rank, nullptr, bytes, flag_in(chunk), l.number, nullptr, 0, piece_of(bytes)};
    return {l.rank, nullptr, bytes, flag_in(chunk), l.number - l.from, words(), l.at, piece_of(bytes)};
  }
  void raise(queue const& by) {
    flags.clear();
    for (link const& l : all)
      if (l.raises) flags.push_back(signal(l, l.theirs, l.out));
    by.raise(flags);
  }
  void await(queue const& by) {
    flags.clear();
    for (link const& l : all)
      if (l.awaits) flags.push_back(signal(l, l.mine.at, l.in));
    by.await(flags);
  }
  [[nodiscard]] static std::uint32_t* flag_in(std::byte* chunk) { return reinterpret_cast<std::uint32_t*>(chunk); }

  void add_state(std::vector<std::uint32_t>& state) const override {
    state.push_back(changes);
    for (link const& l : all) state.push_back(l.number % 2); // its place
  }
  void begin_repeated(queue const& by) override {
    if (room < all.size()) {
      by.fence();
      counted = by.allocate("keel: numbers of messages", sizeof(std::uint32_t) * (room = all.size()));
      changes = new_state();
      for (link& l : all) l.there = l.number - 1;
    }
    bring_words(by);
    for (link& l : all) l.from = l.number;
    can_repeat = true;
  }
  void end_repeated(queue const& by, std::vector<std::uint32_t>& counts) override {
    flags.clear();
    for (link& l : all) {
      counts.push_back(can_repeat ? l.number - l.from : 0);
      if (counts.back() != 0) flags.push_back({l.rank, nullptr, 0, words() + l.at, counts.back(), words(), l.at});
      l.there += counts.back();
    }
    by.raise(flags);
    can_repeat = false;
  }
  void drop_repeated(bool was_given) override {
    for (link& l : all) {
      if (!was_given) l.number = l.from;
      l.there = l.number - 1;
    }
    can_repeat = false;
  }
  void repeat(queue const& by, std::span<std::uint32_t const>& counts) override {
    bring_words(by);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].there = all[i].number += counts[i];
    counts = counts.subspan(all.size());
  }
  /// The words get the numbers that links have.
  void bring_words(queue const& by) {
    flags.clear();
    for (link& l : all)
      if (std::exchange(l.there, l.number) != l.number) flags.push_back({l.rank, nullptr, 0, words() + l.at, l.number});
    by.raise(flags);
  }
  [[nodiscard]] std::uint32_t* words() const { return reinterpret_cast<std::uint32_t*>(counted.get()); }

  static constexpr std::size_t least_piece = 8192;

  space::peer_memory* memory = nullptr;
  std::uint32_t changes = new_state(); // of chunks and links
  bool can_repeat = false;             // what is given to the queue
  std::shared_ptr<std::byte> counted;  // a word for each link, there
  std::size_t room = 0;                // of these
  std::vector<link> all;               // by rank
  std::vector<message> flags;          // to raise or to await; kept, so that no exchange allocates
  bool is_under_way = false;
};

} // namespace keel::residency::detail
