// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a ledger has copies made: which, in what batches, and what it records of them.

#include <keel/policy/error.hpp>
#include <keel/validity/ledger.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace keel::residency {

template <Provider P, Observer O>
void ledger<P, O>::acquire(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  if (m == host) acquire_here(looked_up{*this, list, range}, routine);
  else acquire_there(looked_up{*this, list, range}, m, routine);
}

// In both, one pass finds out whether it can be done, so that an error leaves everything as it was, and gathers what
// has to be copied. Mostly all of it goes one way, in one batch.
template <Provider P, Observer O>
template <typename ledger<P, O>::verb How, class Asked>
void ledger<P, O>::acquire_here(Asked const& asked, std::string_view routine) {
  transfer_batch all;
  unsigned sources = 0, under_way = 0;
  asked.for_each([&](detail::asked const& r) __attribute__((always_inline)) {
    validity const c = states_[r.at] &= ~places_[std::size_t(r.variable)].empty;
    unsigned left = c & r.reads;
    if ((c & r.layers) != 0) [[unlikely]]
      refuse(r, region::halo, routine);
    if (left != 0 || r.writes != region::none) under_way |= in_flight_[r.at]; // from where bytes will arrive
    for (int d = 1; left != 0; ++d) {
      if (d == memories_) [[unlikely]]
        refuse(r, region_of(left), routine);
      unsigned const there = left & ~(c >> d);
      if (there == 0) continue;
      left &= ~there;
      sources |= 1U << d;
      all.add(r, region_of(there), memory(d), host);
    }
  });
  if (under_way != 0) wait_for_copies(routine);
  if (arriving_regions(copies_in_flight(under_way)) != region::none)
    return acquire_here<How>(asked, routine); // it may have it now
  if (sources == 0) return;
  if ((sources & (sources - 1)) == 0 && all.size <= transfer_batch::most) send<How>(all, routine);
  else bring_all<How>(asked, sources, host, routine);
}

template <Provider P, Observer O>
template <class Asked>
void ledger<P, O>::acquire_there(Asked const& asked, memory m, std::string_view routine) {
  transfer_batch all;
  unsigned sources = 0;
  asked.for_each([&](detail::asked const& r) __attribute__((always_inline)) {
    validity const c = states_[r.at] &= ~places_[std::size_t(r.variable)].empty;
    unsigned const lacks = (c >> unsigned(m)) & r.reads;
    if ((c & r.layers) != 0) [[unlikely]]
      refuse(r, region::halo, routine);
    if (lacks == 0) return;
    unsigned left = lacks & c;
    for (int d = 1; left != 0; ++d) {
      if (d == memories_) [[unlikely]]
        refuse(r, region_of(left), routine);
      sources |= unsigned((left & ~(c >> d)) != 0) << d;
      left &= (c >> d);
    }
    all.add(r, region_of(lacks), host, m);
  });
  if (sources == 0 && all.size <= transfer_batch::most) {
    if (all.size != 0) send<verb::to_device>(all, routine);
  } else bring_all<verb::to_host>(asked, sources, m, routine);
}

// What has to come to the host, also on its way to another device; then what goes from there.
template <Provider P, Observer O>
template <typename ledger<P, O>::verb How, class Asked>
[[gnu::noinline]] void ledger<P, O>::bring_all(Asked const& asked, unsigned sources, memory m,
                                               std::string_view routine) {
  for (int d = 1; d < memories_; ++d)
    if ((sources >> d & 1U) != 0) bring<How>(asked, memory(d), host, m, routine);
  if (m != host) bring<verb::to_device>(asked, host, m, m, routine);
}

template <Provider P, Observer O>
[[noreturn, gnu::cold, gnu::noinline]] void ledger<P, O>::refuse(detail::asked const& r, region lost,
                                                                 std::string_view routine) const {
  region const lowest = region(std::uint8_t(lost) & -std::uint8_t(lost)),
               first = overlap(lowest, region::walls) ? region::walls : lowest;
  std::string const reason = observer().why(r.variable, r.level, r.component, first);
  bool const lacks_layers = first == region::halo && source_of(states_[r.at], first) != memory::none;
  bool const lacks_values = first != region::halo && variables_[std::size_t(r.variable)].lacks_values;
  std::string_view const guess = lacks_values   ? "its mesh got elements without values, or the levels cycled since"
                                 : lacks_layers ? "fewer layers of it were filled than the routine reads"
                                 : first == region::halo
                                     ? "it was never written, or its owner wrote since the last exchange"
                                     : "it was never written, or the levels cycled since";
  throw error("residency",
              "routine " + std::string(routine) + " reads " + describe(r.variable, r.level, first, r.component) +
                  (lacks_layers ? ", of which not all is valid" : ", valid nowhere"),
              reason.empty() || lacks_layers ? guess : reason,
              lacks_layers            ? "Exchange as many as depth<...> says there, or all"
              : first == region::halo ? "Write or exchange it first, or read owned only"
              : overlap(first, region::walls)
                  ? "Fill them before by mirror, outflow, fixed or a routine that says writes<walls<...>>, or read "
                    "inside<...>, which leaves them out"
              : lacks_values ? "Give repartition an initial<...> of it, or write it first"
                             : "Write it first");
}

// Collects what is read and neither `reader` nor `to` has, as far as it comes from `from`; a copy from one
// device to another goes through the host.
template <Provider P, Observer O>
template <typename ledger<P, O>::verb How, class Asked>
void ledger<P, O>::bring(Asked const& asked, memory from, memory to, memory reader, std::string_view routine) {
  transfer_batch all;
  asked.for_each([&](detail::asked const& r) {
    auto const wanted = [&, &c = states_[r.at]] {
      return r.reads & (c >> unsigned(reader)) & (c >> unsigned(to)) & ~(c >> unsigned(from));
    };
    if (wanted() == 0) return;
    // Its destination is a source, or it is under way already.
    if (to == host && (in_flight_[r.at] & ~copy_bit(from)) != 0) wait_for_copies(routine);
    unsigned const bits = wanted();
    if (bits == 0) return;
    all.add(r, region_of(bits), from, to);
    if (all.size < transfer_batch::most) return;
    send<How>(all, routine);
    all.clear();
  });
  if (all.size != 0) send<How>(all, routine);
}

template <Provider P, Observer O>
void ledger<P, O>::begin_to_host(std::span<request const> list, std::string_view routine, component_range range) {
  if constexpr (StartsToHost<P>)
    for (int d = 1; d < memories_; ++d) {
      memory const from = memory(d);
      transfer_batch all;
      looked_up{*this, list, range}.for_each([&](detail::asked const& r) {
        validity const c = states_[r.at];
        copies_in_flight const f = in_flight_[r.at];
        bool const is_in_the_way = (f & all_copies & ~copy_bit(from)) != 0; // to wait for it would block
        region const known = (c & slow_path) != 0 ? arriving_regions(f) : region::none;
        unsigned const bits = r.reads & c & ~places_[std::size_t(r.variable)].empty & ~bits_of(known, host) & ~(c >> d);
        if (bits == 0 || is_in_the_way || all.size == transfer_batch::most) return;
        all.add(r, region_of(bits), from, host);
      });
      if (all.size != 0) send<verb::begin_to_host>(all, routine);
    }
}

// One call of the provider, then its record. If the call throws, nothing is recorded.
template <Provider P, Observer O>
template <typename ledger<P, O>::verb How>
void ledger<P, O>::send(transfer_batch const& all, std::string_view routine) {
  memory const from = all.list[0].from, to = all.list[0].to;
  open(from, routine), open(to, routine); // a device may be reached by way of a host that had no array yet
  transfer_batch with_bytes;
  if (has_gaps_) [[unlikely]]
    for (std::size_t i = 0; i < all.size; ++i)
      if (transfer const t = without_gaps(all.list[i]); t.where != region::none) with_bytes.add(t, all.at[i]);
  transfer_batch const& sent = has_gaps_ ? with_bytes : all;
  std::span<transfer const> const batch{sent.list, sent.size};
  answer got = answer::copied;
  if (!batch.empty()) {
    observer().before(batch, routine);
    try {
      if constexpr (How == verb::begin_to_host) provider_.begin_to_host(batch);
      else if constexpr (How == verb::pre_sync) got = provider_.pre_sync(batch).how;
      else if constexpr (How == verb::to_host) got = provider_.to_host(batch).how;
      else if (!overlap(sent.where, region::owned)) got = provider_.post_sync(batch).how;
      else got = provider_.to_device(batch).how;
    } catch (std::exception const& e) {
      observer().after(batch, routine, false);
      drop_failed(routine);
      throw error("residency",
                  "a copy of " + describe(batch[0].variable, batch[0].level, batch[0].where, batch[0].component) +
                      ", for routine " + std::string(routine) + ", failed",
                  reason_of(e));
    }
  }
  bool const goes_on = (How == verb::to_device || How == verb::begin_to_host) && got == answer::copied;
  for (std::size_t i = 0; i < all.size; ++i) {
    transfer const& t = all.list[i];
    region const moves = has_gaps_ ? without_gaps(t).where : t.where;
    validity& c = states_[all.at[i]];
    copies_in_flight& f = in_flight_[all.at[i]];
    if constexpr (How == verb::begin_to_host) {
      region const others =
          (c & slow_path) != 0 ? arriving_regions(f) : region::none; // what is not of now is forgotten
      c = after_copy(c, without(t.where, moves), to);                // what has no bytes has arrived
      if (moves == region::none) continue;
      f = copies_in_flight((f & all_copies) | arrival_bits(moves | others, from));
      c |= slow_path;
    } else {
      c = after_copy(c, t.where, to);
      if (got == answer::moved) c |= bits_of(moves, from);
      else if (goes_on && moves != region::none) f |= copy_bit(to);
    }
    if (goes_on && moves != region::none) {
      flying_devices_ |= copy_bit(How == verb::to_device ? to : from);
      if (!std::exchange(places_[std::size_t(t.variable)].is_flying, true)) flying_variables_.push_back(t.variable);
    }
  }
  for (transfer const& t : batch)
    traffic_.add_copy(t.variable, How == verb::to_device ? way::to_device : way::to_host, t.where,
                      variables_[std::size_t(t.variable)].bytes_of(t.component));
  if (!batch.empty()) observer().after(batch, routine, true);
}

// What of it has bytes on this rank; the rest is valid without a copy.
template <Provider P, Observer O>
transfer ledger<P, O>::without_gaps(transfer t) const {
  region_bytes const& bytes = variables_[std::size_t(t.variable)].bytes_of(t.component);
  for (region one : single_regions)
    if (bytes[std::size_t(index_of(one))] == 0) t.where = without(t.where, one);
  return t;
}

// Waits for every device that a copy may be in flight to or from; to wait for one variable would cost state. If the
// wait fails, what was in flight counts as stale there.
template <Provider P, Observer O>
void ledger<P, O>::wait_for_copies(std::string_view routine) {
  auto const levels_of = [&](int v) {
    return std::span(in_flight_).subspan(index(v, 0, 0), std::size_t(variables_[std::size_t(v)].levels * components_));
  };
  for (int d = 1; d < memories_; ++d)
    if ((flying_devices_ & copy_bit(memory(d))) != 0)
      ask([&] { provider_.wait(memory(d)); },
          [&] {
            std::string text = "copies to and from " + describe(memory(d)) + ", which routine " + std::string(routine) +
                               " waited for, failed:";
            for (int v : flying_variables_) {
              text += ' ' + std::string(name(v));
              for (copies_in_flight const& f : levels_of(v))
                if (validity& c = states_[std::size_t(&f - in_flight_.data())]; (f & copy_bit(memory(d))) != 0)
                  c = after_failure(c, memory(d));
            }
            return text;
          });
  flying_devices_ = 0;
  for (int v : flying_variables_) {
    validity* c = &states_[index(v, 0, 0)];
    for (copies_in_flight& f : levels_of(v)) {
      if (f != 0) *c = after_arrival(*c, arriving_regions(f)), f = 0;
      ++c;
    }
    places_[std::size_t(v)].is_flying = false;
  }
  flying_variables_.clear();
}

template <Provider P, Observer O>
void ledger<P, O>::copy_back(std::span<int const> variables, bool all_levels, std::string_view output,
                             component_range range) {
  std::vector<request> list;
  for (int v : variables)
    for (int l = 0; l < (all_levels ? levels(v) : 1); ++l) list.push_back({v, l, region::everywhere, region::none});
  copy_back(list, output, range);
}

template <Provider P, Observer O>
void ledger<P, O>::copy_back(std::span<request const> list, std::string_view output, component_range range) {
  open(host);
  for (int c = range.begin, end = range.of(components_).end; c < end; ++c) {
    std::vector<request> there(list.begin(), list.end());
    for (request& r : there) {
      region somewhere = region::none;
      for (region one : single_regions)
        if (overlap(one, r.reads) && source_of(at(r.variable, r.level, c), one) != memory::none)
          somewhere = somewhere | one;
      r.reads = somewhere, r.read_layers = 0; // what there is of the halo
    }
    acquire(there, host, output, {c, c + 1});
  }
}

} // namespace keel::residency
