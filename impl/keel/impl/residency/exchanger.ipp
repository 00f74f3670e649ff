// SPDX-License-Identifier: MIT
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/records.hpp>

#include <algorithm>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE std::vector<int> exchanger::partners() {
  std::vector<int> ranks;
  for (auto const& l : arrays_.lattices())
    for (partner const& p : l->cut(arrays_.components(), arrays_.rank(), all_layers).partners) ranks.push_back(p.rank);
  ranks.insert(ranks.end(), further_.begin(), further_.end());
  return ranks;
}

KEEL_INLINE bool exchanger::reaches_partners() {
  auto const all = partners();
  return std::all_of(all.begin(), all.end(), [&](int rank) { return ways_.all.leads_to(rank); });
}

inline decomposition const& cut_of(arrays const& on, request const& r, combine how) {
  return on.lattice_of(r.variable)
      ->cut(on.components(), on.rank(), how == combine::add ? r.read_layers : r.written_layers);
}
KEEL_INLINE sending exchanger::sends(std::span<request const> asked, combine how) const {
  sending all = sending::nothing;
  for (request const& r : asked)
    for (partner const& p : cut_of(arrays_, r, how).partners)
      all = std::max(all, ways_.all.repeat(p.rank) ? sending::again : sending::once);
  return all;
}
KEEL_INLINE void exchanger::add_state(std::vector<std::uint32_t>& all) const {
  for (auto const& each : ways_.halos) all.push_back(each->changes());
  for_each_repeatable([&](repeatable const& one) { one.add_state(all); });
}
KEEL_INLINE void exchanger::take_state(std::span<std::uint32_t const> all) {
  all = all.subspan(ways_.halos.size());
  for_each_repeatable([&](repeatable& one) { one.take_state(all); });
}

KEEL_INLINE void exchanger::prepare(any_transports transports, messenger const& ranks) {
  prepared_ = {};
  prepared_.prepare(std::move(transports), ranks, partners(), book_.settings());
}

KEEL_INLINE void exchanger::connect(memory m) {
  queue_ = arrays_.provider().queue_of(m);
  prepared_.connect(queue_, m);
  ways_.halos.clear();
  ways_.all = std::move(prepared_);
}

KEEL_INLINE void exchanger::swap(ways& other) {
  std::swap(ways_.all, other.all);
  ways_.halos.swap(other.halos);
}

KEEL_INLINE void exchanger::forget() {
  for (auto const& each : ways_.halos) each->forget();
}

// Calls f(halo, arrays) for all arrays, or for those of one request after another, each by messages of its own. If it
// throws, what the exchange was to fill is lost.
void exchanger::exchange(std::span<request const> asked, memory m, component_range range, combine how, auto const& f) {
  try {
    exchanged_.clear();
    for (request const& r : asked) {
      decomposition const& cut = cut_of(arrays_, r, how);
      for (int c = range.begin, end = range.of(arrays_.components()).end; c < end; ++c)
        exchanged_.push_back({&arrays_.provider().shape_of(r.variable, c),
                              arrays_.provider().array(r.variable, r.level, c, m), &cut, c});
    }
    std::span<halo_array const> const all(exchanged_);
    std::size_t const count =
        book_.settings().exchange_together ? all.size() : all.size() / std::max<std::size_t>(asked.size(), 1);
    for (std::size_t first = 0; first < all.size(); first += count) {
      if (ways_.halos.size() * count <= first)
        ways_.halos.push_back(std::make_unique<halo_exchange>(ways_.all, queue_));
      f(*ways_.halos[first / count], all.subspan(first, count));
    }
  } catch (...) {
    if (book_.keeps_ledger()) book_.ledger().lose(asked, range, name_of(how));
    throw;
  }
}

// What was sent of the arrays of the last exchange.
KEEL_INLINE std::span<sent const> exchanger::sent_in(std::span<request const> asked, component_range range,
                                                     combine how) {
  sent_.clear();
  auto array = exchanged_.begin();
  for (request const& r : asked)
    for (int c = range.begin, end = range.of(arrays_.components()).end; c < end; ++c)
      sent_.push_back({r.variable, r.level, c, bytes_sent(*array++, how), name_of(how)});
  return sent_;
}

KEEL_INLINE void exchanger::begin(std::span<request const> asked, memory m, component_range range, combine how,
                                  bool is_whole) {
  arrays_.require_all_blocks(range, name_of(how));
  arrays_.settle_host();
  if (book_.keeps_ledger()) {
    auto const copy = [&] { book_.ledger().pre_sync(asked, range); };
    if (m == host && how == combine::replace) book_.report_copies("exchange", thunk::of(copy));
    if (!book_.ledger().is_ready(asked, m, range)) book_.acquire(asked, m, name_of(how), range);
    if (book_.poisons()) book_.poison(asked, m, range);
    book_.ledger().post_call(asked, m, range, name_of(how));
  }
  any_observer& observer = book_.observer();
  observer.before_exchange();
  exchange(asked, m, range, how, [&](halo_exchange& by, auto arrays) { by.start(arrays, how, is_whole); });
  if (observer.is_active()) observer.after_exchange(sent_in(asked, range, how), false);
  ways_.all.report_new(observer);
}

// On a fold it fills owned elements, too.
KEEL_INLINE void exchanger::note_twins(std::span<request const> asked, memory m, component_range range) {
  for (request const& r : asked)
    for (int c = range.begin, end = range.of(arrays_.components()).end; c < end; ++c) {
      share const* const part = arrays_.provider().shape_of(r.variable, c).part;
      if (part != nullptr && part->is_folded && twins_of(*part).size(part->rank) > 0)
        book_.ledger().outdate_elsewhere(r, region::rim, m, {c, c + 1});
    }
}

KEEL_INLINE void exchanger::finish(std::span<request const> asked, memory m, component_range range, combine how) {
  any_observer& observer = book_.observer();
  observer.before_exchange();
  exchange(asked, m, range, how, [&](halo_exchange& by, auto arrays) { by.finish(arrays, observer); });
  if (book_.keeps_ledger() && how == combine::replace) note_twins(asked, m, range);
  auto const all = sent_in(asked, range, how);
  region const left = how == combine::add ? region::halo : region::rim;
  for (sent const& s : all) book_.traffic().add_bytes(s.variable, way::to_neighbours, left, {0, s.bytes, s.bytes});
  observer.after_exchange(all, true);
}

} // namespace keel::residency::detail
