// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a ledger has copies made: which, in what batches, and what the book says of them after.

#include <keel/policy/error.hpp>
#include <keel/residency/ledger.hpp>

#include <array>
#include <exception>
#include <utility>

namespace keel::residency {

template <Provider P, Observer O>
void ledger<P, O>::acquire(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  // First whether it can be done, so that an error leaves everything as it was.
  bool must_wait = false;
  unsigned sources = 0;
  for_each_cell(list, range, [&](request const& r, int component, std::size_t at) {
    cell& c = cells_[at];
    c &= cell(~variables_[std::size_t(r.variable)].empty);
    for (region one : single_regions) {
      if (!overlap(one, r.reads) || residency::is_valid(c, one, m)) continue;
      memory const source = source_of(c, one);
      if (source == memory::none) {
        std::string const reason = observer_.why(r.variable, r.level, component, one);
        std::string_view const guess = one == region::ghosts ? "it was never written, or its owner wrote since the last exchange"
                                                             : "it was never written, or the levels cycled since";
        throw error("residency", "routine " + std::string(routine) + " reads " + describe(r, one, component) +
                    ", valid nowhere", reason.empty() ? guess : reason,
                    one == region::ghosts ? "Exchange it first, or read owned alone" : "Write it first");
      }
      sources |= 1U << unsigned(source);
    }
    must_wait = must_wait || (m == host && r.writes != region::none && leaving_[at] != 0);
  });
  if (must_wait) wait_for_flights();
  // Then what has to come to the host, also on its way to another device; then what goes from there.
  for (int d = 1; d < memories_; ++d)
    if ((sources >> d & 1U) != 0) bring(list, memory(d), host, m, verb::to_host, routine, range);
  if (m != host && sources != 0) bring(list, host, m, m, verb::to_device, routine, range);
}

// Collects what `list` reads and `to` lacks, as far as it comes from `from`; a copy from one
// device to another goes through the host.
template <Provider P, Observer O>
void ledger<P, O>::bring(std::span<request const> list, memory from, memory to, memory reader, verb how,
                      std::string_view routine, component_range range) {
  std::array<transfer, batch_size> batch;
  std::size_t filled = 0;
  auto const flush = [&] {
    if (std::size_t const n = std::exchange(filled, 0); n != 0) send({batch.data(), n}, how, routine);
  };
  for_each_cell(list, range, [&](request const& r, int component, std::size_t at) {
    cell const c = cells_[at];
    region where = region::none;
    for (region one : single_regions)
      if (overlap(one, r.reads) && !residency::is_valid(c, one, reader) && !residency::is_valid(c, one, to) &&
          source_of(c, one) == from)
        where = where | one;
    if (where == region::none) return;
    if (to == host && (leaving_[at] & ~flight_bit(from)) != 0) wait_for_flights(); // its destination is a source
    if (how == verb::to_device && where != region::ghosts && filled != 0 && batch[0].where == region::ghosts) flush();
    batch[filled++] = {r.variable, r.level, component, where, from, to};
    if (filled == batch_size) flush();
  });
  flush();
}

// One call of the provider, and the book after it: where it throws, nothing was claimed.
template <Provider P, Observer O>
void ledger<P, O>::send(std::span<transfer const> batch, verb how, std::string_view routine) {
  memory const from = batch[0].from, to = batch[0].to;
  bool only_ghosts = how == verb::to_device;
  for (transfer const& t : batch) only_ghosts = only_ghosts && t.where == region::ghosts;
  answer got = answer::copied;
  observer_.before(batch, routine);
  try {
    if (how == verb::pre_sync) got = provider_.pre_sync(batch).how;
    else if (how == verb::to_host) got = provider_.to_host(batch).how;
    else if (only_ghosts) got = provider_.post_sync(batch).how;
    else got = provider_.to_device(batch).how;
  } catch (std::exception const& e) {
    observer_.after(batch, routine, false);
    request const first{batch[0].variable, batch[0].level, batch[0].where, region::none};
    throw error("residency", "a copy of " + describe(first, batch[0].where, batch[0].component) + ", for routine " +
                std::string(routine) + ", failed", e.what());
  }
  for (transfer const& t : batch) {
    std::size_t const at = index(t.variable, t.level, t.component);
    record& v = variables_[std::size_t(t.variable)];
    cells_[at] = after_copy(cells_[at], t.where, to);
    if (got == answer::moved) cells_[at] |= bits_of(t.where, from);
    else if (to != host) {
      leaving_[at] |= flight_bit(to);
      if (!std::exchange(v.has_flights, true)) leavers_.push_back(t.variable);
    }
    traffic_.add_copy(t.variable);
    for (region one : single_regions)
      if (overlap(one, t.where))
        traffic_.add_bytes(t.variable, to == host ? way::to_host : way::to_device, one,
                           v.bytes_of(t.component)[std::size_t(index_of(one))]);
  }
  observer_.after(batch, routine, true);
}

// Waits for every device that a copy may be under way to; finer would cost state.
template <Provider P, Observer O>
void ledger<P, O>::wait_for_flights() {
  unsigned all = 0;
  auto const for_each = [&](auto&& f) {
    for (int v : leavers_) {
      record& one = variables_[std::size_t(v)];
      for (std::size_t i = 0; i < std::size_t(one.levels * components_); ++i) f(leaving_[one.first + i]);
    }
  };
  for_each([&](flights const& f) { all |= f; });
  for (int d = 1; d < memories_; ++d)
    if ((all & flight_bit(memory(d))) != 0) provider_.wait(memory(d));
  for_each([](flights& f) { f = 0; });
  for (int v : leavers_) variables_[std::size_t(v)].has_flights = false;
  leavers_.clear();
}

} // namespace keel::residency
