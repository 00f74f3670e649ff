// SPDX-License-Identifier: MIT
#include <keel/exchange/peer.hpp>
#include <keel/impl/exchange/peer_links.hpp>

#include <atomic>
#include <exception>

namespace keel::residency {

KEEL_INLINE peer::peer(messenger const& ranks) : messages_(ranks), links_(std::make_shared<links>()) {}
KEEL_INLINE peer::peer(peer const& other) : peer(other.messages_) {}

KEEL_INLINE std::vector<std::string> peer::connect(queue const& by, std::span<int const> ranks) {
  std::vector<std::string> why(ranks.size());
  std::vector<char> mine(ranks.size()), theirs(ranks.size());
  auto const agree = [&] { // each says whether it sees no reason against; it may not, if the other one does
    for (std::size_t i = 0; i < ranks.size(); ++i) mine[i] = why[i].empty() ? 1 : 0;
    messages_.swap(ranks, [&](std::size_t i) { return &mine[i]; }, theirs.data(), 1);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (why[i].empty() && theirs[i] == 0) why[i] = "it cannot reach this rank";
  };
  links& l = *links_;
  l.memory = by.peers();
  static std::atomic<bool> do_share = false; // in one environment at least
  detail::waits_yield = do_share = messages_.outnumber_cores() || do_share;
  for (int const rank : ranks) (void)l.to(rank);
  for (auto& link : l.all) link.raises = link.awaits = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    auto& link = l.to(ranks[i]);
    if (l.memory == nullptr) why[i] = "memory of this device cannot be mapped by another process";
    else try {
        if (link.mine.at != nullptr) by.fence(), link.counts = nullptr;
        l.take(by, link, links::bytes_for(0));
      } catch (std::exception const& e) {
        why[i] = reason_of(e);
      }
    link.sent.node = machine::kernel_identity();
    messages_.receive(&link.came, sizeof link.came, link.rank);
    messages_.send(&link.sent, sizeof link.sent, link.rank);
  }
  messages_.wait();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (why[i].empty()) why[i] = l.map(l.to(ranks[i]), links::bytes_for(0));
    l.to(ranks[i]).raises = why[i].empty();
  }
  l.raise(by);
  by.fence();
  agree();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!why[i].empty()) continue;
    std::uint32_t came = 0;
    std::byte const* const flag = l.to(ranks[i]).mine.at;
    if (by) by.to_host(&came, flag, sizeof came), by.fence();
    else came = __atomic_load_n(reinterpret_cast<std::uint32_t const*>(flag), __ATOMIC_ACQUIRE);
    if (came != 1) why[i] = "what it writes does not arrive";
  }
  agree();
  for (std::size_t i = 0; i < ranks.size(); ++i) l.to(ranks[i]).awaits = why[i].empty(); // and counts them
  l.await(by);
  return why;
}

// A longer message than before needs a larger chunk.
KEEL_INLINE void peer::reserve(queue const& by, std::span<message const> sends, std::span<message const> receives) {
  messages_.require_running();
  links& l = *links_;
  l.memory = by.peers();
  for (auto& link : l.all) link.is_at_work = link.raises = link.awaits = false, link.out = link.in = 0;
  auto const enter = [&](std::span<message const> all, std::size_t links::link::* bytes) {
    for (message const& m : all) {
      auto& link = l.to(m.rank);
      link.is_at_work = true, link.*bytes = m.bytes;
    }
  };
  enter(sends, &links::link::out), enter(receives, &links::link::in);
  l.flags.reserve(l.all.size()), messages_.reserve(2 * l.all.size());
  for (auto& link : l.all)
    if (link.is_at_work && link.mine.bytes < links::bytes_for(link.in))
      l.take(by, link, links::bytes_for(link.in)), link.is_new = true;
}

KEEL_INLINE void peer::place(queue const& by, std::span<message> sends, std::span<message> receives) {
  reserve(by, sends, receives);
  links& l = *links_;
  l.is_under_way = true;
  bool is_waiting = false; // both sides see that a chunk is larger, and so meet here
  for (auto& link : l.all) {
    if (!link.is_at_work) continue;
    link.raises = link.awaits = true, link.is_second = !link.is_second;
    if (std::exchange(link.is_new, false)) {
      messages_.send(&link.sent, sizeof link.sent, link.rank);
      is_waiting = true;
    }
    if (link.theirs_bytes < links::bytes_for(link.out)) {
      messages_.receive(&link.came, sizeof link.came, link.rank);
      is_waiting = true;
    }
  }
  if (is_waiting) messages_.wait();
  for (auto& link : l.all) {
    std::size_t const bytes = links::bytes_for(link.out);
    if (!link.is_at_work || link.theirs_bytes >= bytes) continue;
    if (std::string const why = l.map(link, bytes); !why.empty())
      throw error("residency::peer", "rank " + std::to_string(link.rank) + " cannot be reached", why,
                  "Take another transport");
  }
  for (message& m : sends) {
    auto const& link = l.to(m.rank);
    m = links::raised(link), m.data = link.place_in(link.theirs, link.theirs_bytes);
  }
  for (message& m : receives) {
    auto const& link = l.to(m.rank);
    m = links::awaited(link), m.data = link.place_in(link.mine.at, link.mine.bytes);
  }
}

KEEL_INLINE void peer::begin(queue const& by, std::span<message const> sends, std::span<message const> receives) {
  messages_.require_running();
  links& l = *links_;
  for (message const& m : sends) l.to(m.rank).raises = m.flag != nullptr;
  for (message const& m : receives) l.to(m.rank).awaits = m.flag != nullptr;
  l.raise(by);
}

KEEL_INLINE detail::repeatable& peer::repeats() const { return *links_; }

KEEL_INLINE void peer::finish(queue const& by) {
  messages_.require_running();
  links_->await(by);
  links_->is_under_way = false;
}

} // namespace keel::residency
