// SPDX-License-Identifier: MIT
#include <keel/impl/exchange/transports.hpp>
#include <keel/exchange/direct.hpp>
#include <keel/exchange/nccl.hpp>
#include <keel/exchange/peer.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <new>

namespace keel::residency::detail {

KEEL_INLINE any_transports transports_of(all_transports, messenger const& ranks) {
  return [&]<class... Ts>(keel::list<Ts...> all) { return transports_of<Ts...>(all, ranks); }(all_transports{});
}

KEEL_INLINE void routes::prepare(any_transports known, messenger const& ranks, std::vector<int> partners,
                                 settings const& how) {
  known_ = std::move(known), named_by_ = how.exchange_through_name;
  messages_ = std::make_unique<messenger>(ranks);
  std::string names;
  for (std::size_t k = 0; k < known_.size(); ++k) {
    if (known_[k]->name == how.exchange_through) named_ = int(k);
    names.append(names.empty() ? "" : ", ").append(known_[k]->name);
  }
  if (named_ == none && how.exchange_through != "measured")
    throw error("residency", how.exchange_through_name + " names '" + how.exchange_through + "'",
                "no transport of this program is called so: it was compiled with " + names,
                "Choose one of them, or measured, or add it to `using transports`");
  std::sort(partners.begin(), partners.end());
  partners.erase(std::unique(partners.begin(), partners.end()), partners.end());
  for (int const rank : partners) all_.push_back({rank});
  theirs_.resize(all_.size()), messages_->reserve(2 * all_.size());
  partners_ = std::move(partners);
}

// What a user is shown of the way to a rank.
[[nodiscard]] inline std::string sentence_of(int rank, std::string_view transport, std::string const& why) {
  return "residency: messages to rank " + std::to_string(rank) + " go by " + std::string(transport) +
         (why.empty() ? "" : " (" + why + ")");
}

KEEL_INLINE void routes::report(any_observer& observer) {
  for (route& r : all_) {
    if (r.chosen < 0 || std::exchange(r.is_shown, true)) continue;
    std::string const name(known_[std::size_t(r.chosen)]->name);
    policy::log(r.was_slow ? policy::log_level::warning : policy::log_level::information,
                sentence_of(r.rank, name, r.why));
    observer.knob("exchange_through", "rank " + std::to_string(r.rank) + ": " + name, r.why);
  }
}

KEEL_INLINE void routes::try_transport(std::size_t number, copy_queue const& queue) {
  any_transport& tried = *known_[number];
  std::vector<std::string> why;
  if (tried.has_to_connect) {
    std::vector<int> asked;
    for (route const& r : all_)
      if (r.is_alike && r.is_asked) asked.push_back(r.rank);
    try {
      why = tried.connect(queue, asked);
    } catch (error const&) {
      throw;
    } catch (std::bad_alloc const&) { // its partners wait for its messages
      if (std::count(asked.begin(), asked.end(), messages_->rank()) == std::ptrdiff_t(asked.size())) throw;
      throw error("residency", "transports cannot be tried", "there is not enough memory").of_ranks();
    } catch (std::exception const& e) { // of a device
      throw error("residency", "transports cannot be tried", e.what(), "Take " + named_by_ + "=staged");
    }
  }
  for (std::size_t at = 0; route & r : all_) {
    if (!r.is_asked) continue;
    std::string const reason = !tried.has_to_connect ? ""
                               : r.is_alike          ? why[at++]
                                                     : "its data are in memory of another kind";
    if (reason.empty()) r.reached |= std::uint32_t{1} << number;
    else r.why.append(r.why.empty() ? "" : "; ").append(std::string(tried.name) + ": " + reason);
  }
}

KEEL_INLINE void routes::agree_on_reached() {
  messages_->swap(partners_, [&](std::size_t i) { return &all_[i].reached; }, theirs_.data(), sizeof theirs_[0]);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].reached &= theirs_[i];
}

KEEL_INLINE void routes::choose_without_measuring(route& r) const {
  if (r.reached == 0)
    throw error("residency", "rank " + std::to_string(r.rank) + " is reached by no transport", r.why,
                "Add staged to `using transports`");
  bool const is_one = std::has_single_bit(r.reached), is_named = named_ >= 0;
  if (is_named && reaches(std::size_t(named_), r.rank)) r.chosen = named_;
  else if (is_named || is_one) {
    r.chosen = std::countr_zero(r.reached);
    if (is_named)
      policy::log(policy::log_level::warning, sentence_of(r.rank, known_[std::size_t(r.chosen)]->name, r.why));
  }
}

// Takes no memory between messages, which a rank alone may lack; a transport may.
KEEL_INLINE void routes::connect(copy_queue const& queue, memory of) {
  std::uint32_t const number = std::uint32_t(memory_ = of);
  messages_->swap(partners_, [&](std::size_t) { return &number; }, theirs_.data(), sizeof number);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].is_alike = theirs_[i] == number;
  if (named_ >= 0) { // the others only for ranks that it does not reach
    try_transport(std::size_t(named_), queue), agree_on_reached();
    for (route& r : all_) r.is_asked = r.reached == 0;
  }
  if (named_ < 0 || named_connects()) {
    for (std::size_t k = 0; k < known_.size(); ++k)
      if (int(k) != named_) try_transport(k, queue);
    agree_on_reached();
  }
  for (route& r : all_) choose_without_measuring(r);
}

KEEL_INLINE std::size_t routes::find(int rank) const {
  auto const at = std::lower_bound(all_.begin(), all_.end(), rank, [](route const& r, int n) { return r.rank < n; });
  return std::size_t(at - all_.begin());
}
KEEL_INLINE int routes::to(int rank) const { return all_[find(rank)].chosen; }
KEEL_INLINE int routes::for_elements(int rank, memory from) const {
  if (named_ >= 0 && !named_connects()) return named_;
  if (from != memory_ || !leads_to(rank)) return none;
  route const& r = all_[find(rank)];
  return r.is_alike ? std::max(r.chosen, none) : none;
}
KEEL_INLINE bool routes::reaches(std::size_t transport, int rank) const {
  return (all_[find(rank)].reached >> transport & 1) != 0;
}

KEEL_INLINE bool routes::travel_meanwhile(bool from_device) const {
  return !from_device || std::any_of(all_.begin(), all_.end(), [&](route const& r) {
    return r.chosen >= 0 && !known_[std::size_t(r.chosen)]->is_ordered_by_queue;
  });
}

[[nodiscard]] inline std::string microseconds(double seconds) {
  return std::to_string(std::int64_t(seconds * 1e6 + 0.5)) + " us";
}

KEEL_INLINE void routes::choose(std::span<int const> ranks, std::vector<double> const& seconds) {
  // Two transports in one exchange cost what both cost, so ranks that exchange take the same one: that whose slowest
  // rank is the fastest, among a rank, its partners and theirs.
  std::vector<double> worst = seconds, theirs(seconds.size() * ranks.size());
  auto const hear = [&] {
    messages_->swap(ranks, [&](std::size_t) { return worst.data(); }, theirs.data(), worst.size() * sizeof(double));
  };
  hear();
  for (std::size_t n = 0; n < theirs.size(); ++n)
    worst[n % worst.size()] = std::max(worst[n % worst.size()], theirs[n]);
  hear();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    route& r = all_[find(ranks[i])];
    double best = 0;
    std::string measured;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!reaches(k, r.rank)) continue;
      double const slower = std::max(worst[k], theirs[i * worst.size() + k]);
      measured += (measured.empty() ? "" : ", ") + std::string(known_[k]->name) + ' ' + microseconds(slower);
      if (r.chosen < 0 || slower < best) r.chosen = int(k), best = slower;
    }
    r.why.insert(0, measured + (r.why.empty() ? "" : "; "));
    r.measured = true;
  }
  has_new_ = true;
}

KEEL_INLINE bool routes::reopen(std::span<int const> ranks, bool is_slow, double usual, double now) {
  char const mine = is_slow ? 1 : 0;
  std::vector<char> theirs(ranks.size());
  messages_->swap(ranks, [&](std::size_t) { return &mine; }, theirs.data(), 1);
  bool is_any = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!is_slow || theirs[i] == 0) continue;
    route& r = all_[find(ranks[i])];
    r.why = "by " + std::string(known_[std::size_t(r.chosen)]->name) + " an exchange took " + microseconds(now) +
            ", and " + microseconds(usual) + " before";
    r.chosen = open, r.is_shown = false, r.was_slow = is_any = true;
    ++changes_;
  }
  return is_any;
}

KEEL_INLINE bool routes::have_same_lengths(std::span<message const> sends, std::span<message const> receives) {
  using lengths = std::array<std::uint64_t, 2>; // of what comes from a rank, and goes there
  std::vector<int> ranks;
  std::vector<lengths> mine, wanted, theirs(sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    ranks.push_back(sends[i].rank);
    mine.push_back({sends[i].bytes, receives[i].bytes}), wanted.push_back({receives[i].bytes, sends[i].bytes});
  }
  messages_->swap(ranks, [&](std::size_t i) { return &mine[i]; }, theirs.data(), sizeof(lengths));
  return theirs == wanted;
}

KEEL_INLINE delivery::delivery(any_transports const& by) {
  for (auto const& t : by) loads_.push_back({t->another(), {}, {}, {}, {}, {}, {}});
  at_work_.reserve(loads_.size());
}

KEEL_INLINE bool delivery::has_places() const {
  return std::any_of(at_work_.begin(), at_work_.end(), [](load const* p) { return p->by->has_places; });
}

KEEL_INLINE void delivery::reserve(packing& where) {
  copy_queue const& queue = where.queue();
  std::size_t out = 0, in = 0;
  at_work_.clear();
  for (load& p : loads_) {
    if (p.is_idle()) continue;
    at_work_.push_back(&p);
    p.by->reserve(queue, p.sends, p.receives);
    if (p.by->has_places) continue;
    p.out_bytes = p.in_bytes = 0;
    for (message const& m : p.sends) p.out_bytes += m.bytes;
    for (message const& m : p.receives) p.in_bytes += m.bytes;
    out += p.out_bytes, in += p.in_bytes;
    if (!is_mailed(p, queue)) continue;
    p.mail_out.grow(queue, p.out_bytes, buffer::on_host), p.mail_in.grow(queue, p.in_bytes, buffer::on_host);
  }
  where.out(out), where.in(in);
}

// What a transport has no place for lies in the packing's memory, in one piece for each transport.
KEEL_INLINE void delivery::place(packing& where, std::span<message> sends, std::span<message> receives,
                                 bool is_unpacked) {
  copy_queue const& queue = where.queue();
  std::byte *packed = where.out(0), *came = where.in(0);
  for (load* const at : at_work_) {
    load& p = *at;
    if (p.by->has_places) {
      p.by->place(queue, p.sends, p.receives);
      continue;
    }
    p.out = packed, p.in = came;
    for (message& m : p.sends) m.data = std::exchange(packed, packed + m.bytes);
    for (message& m : p.receives) m.data = std::exchange(came, came + m.bytes);
  }
  // Those of a load are in the order of all. A flag is cared for by kernels that move the message, or else by the part.
  auto const tell = [&](std::span<message> all, std::vector<message> load::* list, bool moves_flags) {
    for (load* const p : at_work_) {
      auto placed = (p->*list).begin();
      for (message& m : all)
        if (placed != (p->*list).end() && m.rank == placed->rank) {
          m = *placed;
          (moves_flags && m.bytes != 0 ? placed->flag : m.flag) = nullptr;
          ++placed;
        }
    }
  };
  bool const moves_flags = queue.waits_in_kernels();
  tell(sends, &load::sends, moves_flags), tell(receives, &load::receives, moves_flags && is_unpacked);
  for (load* const at : at_work_) {
    load& p = *at;
    if (!is_mailed(p, queue)) continue;
    for (message& m : p.sends) m.data = p.mail_out.bytes.get() + (m.data - p.out);
    for (message& m : p.receives) m.data = p.mail_in.bytes.get() + (m.data - p.in);
  }
}

KEEL_INLINE void delivery::begin(copy_queue const& queue) {
  if (fetch(queue)) queue.fence();
  send(queue);
}

KEEL_INLINE bool delivery::fetch(copy_queue const& queue) {
  bool waits = false;
  for (load* const p : at_work_) {
    if (is_mailed(*p, queue)) queue.to_host(p->mail_out.bytes.get(), p->out, p->out_bytes);
    waits = waits || !p->by->is_ordered_by_queue;
  }
  return waits;
}

KEEL_INLINE void delivery::send(copy_queue const& queue) {
  for (load* const p : at_work_) p->by->begin(queue, p->sends, p->receives);
}

KEEL_INLINE void delivery::finish(copy_queue const& queue) {
  for (bool const is_ordered : {false, true})
    for (load* const p : at_work_) {
      if (p->by->is_ordered_by_queue != is_ordered) continue;
      p->by->finish(queue);
      if (is_mailed(*p, queue)) queue.to_device(p->in, p->mail_in.bytes.get(), p->in_bytes);
    }
}

} // namespace keel::residency::detail
