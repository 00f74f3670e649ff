// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Messages into memory of the other rank: the bodies of `peer`.

#include <keel/impl/residency/copy_queue.hpp>
#include <keel/space/peer_memory.hpp>
#include <keel/machine/host.hpp>
#include <keel/policy/error.hpp>
#include <keel/residency/transport.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency {

KEEL_INLINE space::peer_memory* detail::copy_queue::peers() const {
  return calls_ != nullptr ? calls_->peers() : &space::peer_memory::of_host();
}

/// Links to other ranks. A piece of memory that the other one writes has a flag, then two places for messages.
struct peer::links {
  static constexpr std::size_t flag_bytes = 256;
  /// How a rank finds a piece of another's.
  struct address {
    space::peer_handle handle;
    std::uint64_t offset = 0, node = 0;
    char kind[16] = {}; ///< empty if there is no piece
  };
  struct link {
    int rank;
    space::peer_memory::piece mine = {};
    std::byte* theirs = nullptr;
    std::size_t theirs_bytes = 0;
    address sent = {}, came = {};
    std::uint32_t number = 1; ///< of its last exchange; the first tries the way

    /// Where its message lies in a piece.
    [[nodiscard]] std::byte* place_in(std::byte* piece, std::size_t bytes) const {
      return piece + flag_bytes + (number % 2 != 0 ? (bytes - flag_bytes) / 512 * 256 : 0);
    }
  };

  ~links() {
    if (memory == nullptr || is_under_way) return; // others may still write there
    for (link const& l : all)
      if (l.mine.at != nullptr) memory->give_back(l.mine);
  }
  link& to(int rank) {
    auto const at = std::find_if(all.begin(), all.end(), [&](link const& l) { return l.rank == rank; });
    return at != all.end() ? *at : all.emplace_back(link{rank});
  }
  static std::size_t bytes_for(std::size_t message) {
    return space::peer_memory::rounded(flag_bytes + 2 * ((message + 255) / 256 * 256));
  }
  /// Takes a piece for messages from the other rank, its flag as of the last exchange.
  void take(detail::copy_queue const& queue, link& l, std::size_t bytes) {
    if (l.mine.at != nullptr) {
      if (queue) queue.fence(); // the last message may not be unpacked yet
      memory->give_back(l.mine);
      l.mine = {};
    }
    l.mine = memory->take(bytes);
    std::uint32_t const last = l.number - 1;
    if (queue) queue.to_device(l.mine.at, &last, sizeof last), queue.fence();
    else std::memcpy(l.mine.at, &last, sizeof last);
    l.sent = {l.mine.handle, l.mine.offset, machine::node_identity(), {}};
    std::strncpy(l.sent.kind, memory->kind(), sizeof l.sent.kind - 1);
  }
  /// Maps the other rank's piece, or says why it cannot.
  std::string map(link& l, std::size_t bytes) const {
    if (l.came.node != machine::node_identity()) return "it is on another node";
    if (memory == nullptr || std::string_view(l.came.kind) != memory->kind())
      return "its data are in memory that cannot be mapped from here";
    std::string why;
    l.theirs = memory->map(l.came.handle, l.came.offset, why);
    l.theirs_bytes = bytes;
    return why;
  }
  /// Raises the flags of the others, or awaits those here, of the ranks at work.
  void flags(detail::copy_queue const& queue, detail::motion how) {
    detail::move_words some;
    for (int const rank : ranks) {
      link const& l = to(rank);
      auto* const flag = reinterpret_cast<std::uint32_t*>(how == detail::motion::raise ? l.theirs : l.mine.at);
      if (!queue) {
        if (how == detail::motion::raise) detail::raise_flag(flag, l.number);
        else detail::await_flag(flag, l.number);
      } else if (!some.add_flag(how, flag, l.number)) {
        queue.move(some);
        some = {};
        some.add_flag(how, flag, l.number);
      }
    }
    if (queue) queue.move(some);
  }

  space::peer_memory* memory = nullptr;
  std::vector<link> all;
  std::vector<int> ranks; // of the exchange at work
  bool is_under_way = false;
};

KEEL_INLINE peer::peer(messenger const& ranks) : messages_(ranks), links_(std::make_shared<links>()) {}
KEEL_INLINE peer::peer(peer const& other) : peer(other.messages_) {}

KEEL_INLINE std::vector<std::string> peer::connect(detail::copy_queue const& queue, std::span<int const> ranks) {
  std::vector<std::string> why(ranks.size());
  std::vector<char> mine(ranks.size()), theirs(ranks.size());
  auto const agree = [&] { // each says whether it sees no reason against; it may not, if the other one does
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      mine[i] = why[i].empty() ? 1 : 0;
      messages_.receive(&theirs[i], 1, ranks[i]);
      messages_.send(&mine[i], 1, ranks[i]);
    }
    messages_.wait();
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (why[i].empty() && theirs[i] == 0) why[i] = "it cannot reach this rank";
  };
  links& l = *links_;
  l.memory = queue.peers();
  l.all.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    auto& link = l.to(ranks[i]);
    if (l.memory == nullptr) why[i] = "memory of this device cannot be mapped by another process";
    else try {
        l.take(queue, link, links::bytes_for(0));
      } catch (error const& e) {
        why[i] = e.brief();
      }
    link.sent.node = machine::node_identity();
    messages_.receive(&link.came, sizeof link.came, link.rank);
    messages_.send(&link.sent, sizeof link.sent, link.rank);
  }
  messages_.wait();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (why[i].empty()) why[i] = l.map(l.to(ranks[i]), links::bytes_for(0));
    if (why[i].empty()) l.ranks.push_back(ranks[i]);
  }
  l.flags(queue, detail::motion::raise);
  if (queue) queue.fence();
  agree();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!why[i].empty()) continue;
    std::uint32_t came = 0;
    std::byte const* const flag = l.to(ranks[i]).mine.at;
    if (queue) queue.to_host(&came, flag, sizeof came), queue.fence();
    else came = __atomic_load_n(reinterpret_cast<std::uint32_t const*>(flag), __ATOMIC_ACQUIRE);
    if (came != 1) why[i] = "what it writes does not arrive";
  }
  agree();
  return why;
}

KEEL_INLINE void peer::place(detail::copy_queue const& queue, std::span<message> sends, std::span<message> receives) {
  links& l = *links_;
  l.memory = queue.peers();
  l.is_under_way = true;
  l.ranks.clear();
  for (auto const all : {sends, receives})
    for (message const& m : all)
      if (std::find(l.ranks.begin(), l.ranks.end(), m.rank) == l.ranks.end()) l.ranks.push_back(m.rank);
  l.all.reserve(l.all.size() + l.ranks.size()); // so that no link moves while a message goes to it
  auto const bytes_of = [](std::span<message> all, int rank) {
    auto const at = std::find_if(all.begin(), all.end(), [&](message const& m) { return m.rank == rank; });
    return links::bytes_for(at != all.end() ? at->bytes : 0);
  };
  // A longer message than before needs a larger piece: both sides see that, and so meet here.
  bool is_waiting = false;
  for (int const rank : l.ranks) {
    auto& link = l.to(rank);
    ++link.number;
    if (std::size_t const bytes = bytes_of(receives, rank); link.mine.bytes < bytes) {
      l.take(queue, link, bytes);
      messages_.send(&link.sent, sizeof link.sent, rank);
      is_waiting = true;
    }
    if (link.theirs_bytes < bytes_of(sends, rank)) {
      messages_.receive(&link.came, sizeof link.came, rank);
      is_waiting = true;
    }
  }
  if (is_waiting) messages_.wait();
  for (int const rank : l.ranks) {
    auto& link = l.to(rank);
    std::size_t const bytes = bytes_of(sends, rank);
    if (link.theirs_bytes >= bytes) continue;
    if (std::string const why = l.map(link, bytes); !why.empty())
      throw error("residency::peer", "rank " + std::to_string(rank) + " cannot be reached", why,
                  "Take another transport");
  }
  for (message& m : sends) {
    auto const& link = l.to(m.rank);
    m.data = link.place_in(link.theirs, link.theirs_bytes);
  }
  for (message& m : receives) {
    auto const& link = l.to(m.rank);
    m.data = link.place_in(link.mine.at, link.mine.bytes);
  }
}

KEEL_INLINE void peer::begin(detail::copy_queue const& queue, std::span<message const>, std::span<message const>) {
  links_->flags(queue, detail::motion::raise);
}

KEEL_INLINE void peer::finish(detail::copy_queue const& queue) {
  links_->flags(queue, detail::motion::await);
  links_->is_under_way = false;
}

} // namespace keel::residency
