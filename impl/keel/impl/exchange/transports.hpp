// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which of the transports of a program carries the messages to each rank.

#include <keel/exchange/transport.hpp>
#include <keel/impl/exchange/any_transport.hpp>
#include <keel/impl/exchange/packing.hpp>
#include <keel/impl/validity/observers.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/validity/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// Which transport carries what goes to each rank: what a user names, or the fastest of those that reach it.
class routes {
public:
  static constexpr int none = -1, open = -2;

  /// Finds all memory that it takes to connect. `how` names one of `known`, or `measured`.
  void prepare(any_transports known, messenger const& ranks, std::vector<int> partners, settings const& how);
  /// Once, when all are prepared, with the queue of a memory. Collective over ranks that exchange, each of which has
  /// named the others.
  void connect(copy_queue const& queue, memory of);
  [[nodiscard]] any_transports const& known() const { return known_; }
  /// Grows when ways are to be measured again.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] bool leads_to(int rank) const {
    std::size_t const at = find(rank);
    return at != all_.size() && all_[at].rank == rank;
  }
  /// By number of `known`; `open` if the ways to that rank have to be measured first.
  [[nodiscard]] int to(int rank) const;
  /// Which one carries elements from a memory to any rank, and back: that which a user names, or the one that was
  /// chosen for ghosts; `none` if there is none for both ranks.
  [[nodiscard]] int for_elements(int rank, memory from) const;
  /// Whether elements would take another way to that rank if it was among the partners.
  [[nodiscard]] bool lacks(int rank) const { return named_ >= 0 && named_connects() && !leads_to(rank); }
  [[nodiscard]] bool reaches(std::size_t transport, int rank) const;
  /// Whether messages travel while a device, or the host, works on. Those that the device's queue orders do not.
  [[nodiscard]] bool travel_meanwhile(bool from_device) const;
  /// Both ranks of a pair take the way whose slowest side, of both and of their partners, is the fastest. `seconds` by
  /// number of `known`, measured to all of these ranks at once. Collective over them.
  void choose(std::span<int const> ranks, std::vector<double> const& seconds);
  /// Whether ways are chosen by measuring, and may be so again; a named one is not.
  [[nodiscard]] bool are_measured() const { return named_ == none; }
  /// Whether messages to that rank are sent by work that can run again.
  [[nodiscard]] bool repeat(int rank) const {
    int const way = to(rank);
    return way >= 0 && known_[std::size_t(way)]->repeats() != nullptr;
  }
  /// Whether the way to that rank was chosen by measuring, and may be so again.
  [[nodiscard]] bool is_measured(int rank) const { return all_[find(rank)].measured && all_[find(rank)].is_alike; }
  /// Whether to measure the ways to some of these ranks again: those of which both sides say that exchanges have become
  /// slow, so many seconds instead of the usual ones. Collective over these ranks.
  [[nodiscard]] bool reopen(std::span<int const> ranks, bool is_slow, double usual, double now);
  /// Whether the other ranks send what this one receives, and the other way round. Collective over these ranks.
  [[nodiscard]] bool have_same_lengths(std::span<message const> sends, std::span<message const> receives);
  /// Says which ways were chosen since the last time, in the log and to an observer.
  void report_new(any_observer& observer) {
    if (std::exchange(has_new_, false)) report(observer);
  }

private:
  struct route {
    int rank;
    std::uint32_t reached = 0; // a bit for each of `known`
    int chosen = open;
    std::string why = {};
    bool is_shown = false, was_slow = false, measured = false;
    bool is_alike = false; ///< its data are in the same memory
    bool is_asked = true;  ///< the next transport may reach it
  };
  [[nodiscard]] std::size_t find(int rank) const;
  [[nodiscard]] bool named_connects() const { return known_[std::size_t(named_)]->has_to_connect; }
  /// Finds which of the ranks that are asked a transport reaches, as this rank sees it.
  void try_transport(std::size_t number, copy_queue const& queue);
  /// A rank is reached if it says so, too: a user's own transport may see it from one side only.
  void agree_on_reached();
  /// Takes the way that is named, or the only one.
  void choose_without_measuring(route& r) const;
  void report(any_observer& observer);
  any_transports known_;
  std::vector<route> all_; // by rank
  std::uint64_t changes_ = 0;
  memory memory_ = host;
  bool has_new_ = true;
  std::unique_ptr<messenger> messages_;
  int named_ = none;     // of `known_`; the fastest if none is
  std::string named_by_; // the knob
  std::vector<int> partners_;
  std::vector<std::uint32_t> theirs_; // what they say while ranks connect
};

/// The messages of one exchange, each by the transport of its rank.
class delivery {
public:
  /// By copies of these transports.
  explicit delivery(any_transports const& by);
  /// Gives each message a transport, and finds the memory that it takes; calls no other rank. `choose(rank)` is the
  /// number of a transport; of `none` the message is left without a place.
  template <class F>
  void deal(packing& where, std::span<message> sends, std::span<message> receives, F const& choose) {
    for (load& p : loads_) p.sends.clear(), p.receives.clear();
    auto const deal_out = [&](std::span<message> all, std::vector<message> load::* list) {
      for (message& m : all)
        if (int const by = choose(m.rank); by >= 0)
          (loads_[std::size_t(by)].*list).push_back({m.rank, nullptr, m.bytes});
        else m.data = nullptr;
    };
    deal_out(sends, &load::sends), deal_out(receives, &load::receives);
    reserve(where);
  }
  /// Says where they are packed and where they arrive. What comes is unpacked, or not, and then `finish` waits for its
  /// flags.
  void place(packing& where, std::span<message> sends, std::span<message> receives, bool is_unpacked = true);
  /// Packed messages leave: `fetch`, and `send` when the queue is done.
  void begin(copy_queue const& queue);
  /// Messages that go through memory of the host are on the way there; whether some leave from the host.
  [[nodiscard]] bool fetch(copy_queue const& queue);
  /// Takes no memory, if their transports can.
  void send(copy_queue const& queue);
  /// What came may be unpacked by work that the queue gets from here on.
  void finish(copy_queue const& queue);
  [[nodiscard]] bool is_empty() const { return at_work_.empty(); }
  /// Whether a transport at work has places of its own, which may be others the next time.
  [[nodiscard]] bool has_places() const;
  void for_each_repeatable(auto const& f) {
    for (load& p : loads_)
      if (repeatable* const it = p.by->repeats()) f(*it);
  }

private:
  struct load {
    std::unique_ptr<any_transport> by;
    std::vector<message> sends, receives; // in memory of the host, if they go through that
    buffer mail_out, mail_in;
    std::byte *out = nullptr, *in = nullptr;
    std::size_t out_bytes = 0, in_bytes = 0; // at work

    [[nodiscard]] bool is_idle() const { return sends.empty() && receives.empty(); }
  };
  void reserve(packing& where);
  [[nodiscard]] static bool is_mailed(load const& p, copy_queue const& queue) {
    return bool(queue) && !p.by->reaches_device_memory;
  }

  std::vector<load> loads_;    // by number of the transport
  std::vector<load*> at_work_; // those with messages
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/exchange/transports.ipp>
#endif
