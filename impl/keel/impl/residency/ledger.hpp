// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How the book is kept.
/// Long because all that changes the book stands in one place.

#include <keel/policy/error.hpp>
#include <keel/residency/ledger.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace keel::residency {

template <Provider P, Observer O>
ledger<P, O>::ledger(P& provider, int memories, int components) : provider_(provider), memories_(memories), components_(components) {
  if (memories < 1 || memories > max_memories || components < 1)
    throw error("residency::ledger", std::to_string(memories) + " memories and " + std::to_string(components) +
                " components are refused", "there are 1 to 8 memories, and at least one component");
}

template <Provider P, Observer O>
int ledger<P, O>::add(std::string_view name, int levels, region_bytes const& bytes, std::string_view group) {
  for (record const& v : variables_)
    if (v.name == name)
      throw error("residency::ledger", "there are two variables " + v.name, "they are found by name", "Rename one");
  std::size_t const base = variables_.empty() ? 0 : variables_.back().base + std::size_t(variables_.back().levels);
  if (base + std::size_t(levels) > stride_) {
    std::size_t const wider = std::max(base + std::size_t(levels), 2 * stride_);
    std::vector<cell> moved(wider * std::size_t(components_), valid_nowhere);
    for (std::size_t c = 0; c < std::size_t(components_); ++c)
      std::copy_n(cells_.data() + c * stride_, base, moved.data() + c * wider);
    cells_ = std::move(moved);
    stride_ = wider;
  }
  variables_.push_back({std::string(name), levels, base, bytes, std::string(group)});
  traffic_.add_variable(std::string(name));
  observer_.add(name, levels, components_, bytes);
  int const number = int(variables_.size()) - 1;
  for (int m = 0; m < memories_; ++m)
    if (is_open(memory(m))) provider_.create(number, memory(m)), observer_.create(number, memory(m));
  return number;
}

template <Provider P, Observer O>
int ledger<P, O>::find(std::string_view name) const {
  for (std::size_t v = 0; v < variables_.size(); ++v)
    if (variables_[v].name == name) return int(v);
  throw error("residency::ledger", "there is no variable " + std::string(name), "nobody added it", "Add it first");
}

template <Provider P, Observer O>
void ledger<P, O>::open(memory m) {
  if (is_open(m)) return;
  for (std::size_t v = 0; v < variables_.size(); ++v) provider_.create(int(v), m), observer_.create(int(v), m);
  open_ |= 1U << int(m);
}

template <Provider P, Observer O>
void ledger<P, O>::cycle(int variable) {
  int const levels = variables_[std::size_t(variable)].levels;
  if (levels == 1) return;
  (void)provider_.copy_cycle(variable);
  for (int c = 0; c < components_; ++c) cycle_cells(cells(c) + index(variable, 0), levels);
  observer_.cycle(variable);
}

template <Provider P, Observer O>
void ledger<P, O>::copy_from_past(int variable) {
  for (int c = 0; c < components(); ++c) {
    cell* const first = cells(c) + index(variable, 0);
    if ((first[0] & any_flight) != 0) wait_for_flights();
    for (int m = 0; m < memories_; ++m) {
      bool something = false;
      for (region one : single_regions) something = something || residency::is_valid(first[1], one, memory(m));
      if (something) (void)provider_.copy_from_past(variable, c, memory(m));
    }
    first[0] = first[1] & ~any_flight;
  }
}

template <Provider P, Observer O>
void ledger<P, O>::pre_sync(std::span<request const> rims, component_range range) {
  open(host);
  for (int d = 1; d < memories_; ++d) bring(rims, memory(d), host, host, verb::pre_sync, "exchange", range);
}

template <Provider P, Observer O>
void ledger<P, O>::post_sync(std::span<request const> ghosts, component_range range) {
  post_call(ghosts, host, range, "exchange");
}

template <Provider P, Observer O>
void ledger<P, O>::pre_call(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  open(m);
  acquire(list, m, routine, range);
}

template <Provider P, Observer O>
void ledger<P, O>::post_call(std::span<request const> list, memory m, component_range range, std::string_view routine) {
  for_each_cell(list, range, [&](request const& r, int component, cell& c) {
    c = after_write(c, r.writes, m);
    observer_.write(r, component, m, routine);
  });
}

template <Provider P, Observer O>
void ledger<P, O>::notify_data_modified(int variable, int level, region where, memory m, component_range range) {
  request const one{variable, level, region::none, where};
  post_call({&one, 1}, m, range);
}

template <Provider P, Observer O>
void ledger<P, O>::require_invalid_data(int variable, int level, region where, memory m, component_range range) {
  request const one{variable, level, region::none, where};
  pre_call({&one, 1}, m, "the caller", range);
}

template <Provider P, Observer O>
void ledger<P, O>::require_valid_data(int variable, int level, region where, memory m, std::string_view routine,
                                   component_range range) {
  request const one{variable, level, where, region::none};
  pre_call({&one, 1}, m, routine, range);
}

template <Provider P, Observer O>
void ledger<P, O>::acquire(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  // First whether it can be done, so that an error leaves everything as it was.
  bool must_wait = false;
  for_each_cell(list, range, [&](request const& r, int component, cell& c) {
    region_bytes const& bytes = variables_[std::size_t(r.variable)].bytes;
    for (region one : single_regions) {
      if (bytes[std::size_t(index_of(one))] == 0) c &= ~bits_of(one);
      if (overlap(one, r.reads) && source_of(c, one) == memory::none) {
        std::string const reason = observer_.why(r.variable, r.level, component, one);
        std::string_view const guess = one == region::ghosts ? "it was never written, or its owner wrote since the last exchange"
                                                             : "it was never written, or the levels cycled since";
        throw error("residency", "routine " + std::string(routine) + " reads " + describe(r, one, component) +
                    ", valid nowhere", reason.empty() ? guess : reason,
                    one == region::ghosts ? "Exchange it first, or read owned alone" : "Write it first");
      }
    }
    must_wait = must_wait || (m == host && r.writes != region::none && (c & any_flight) != 0);
  });
  if (must_wait) wait_for_flights();
  // Then what has to come to the host, also on its way to another device; then what goes from there.
  for (int d = 1; d < memories_; ++d)
    if (memory(d) != m) bring(list, memory(d), host, m, verb::to_host, routine, range);
  if (m != host) bring(list, host, m, m, verb::to_device, routine, range);
}

template <Provider P, Observer O>
void ledger<P, O>::poison(std::span<request const> list, memory m, component_range range) {
  for_each_cell(list, range, [&](request const& r, int component, cell& c) {
    for (int k = 0; k < memories_; ++k) {
      if (!is_open(memory(k))) continue;
      region where = region::none;
      for (region one : single_regions) {
        bool const is_written = memory(k) == m && overlap(one, r.writes);
        bool const becomes_stale = overlap(one, spoiled_by(r.writes)) && residency::is_valid(c, one, memory(k));
        if (is_written ? !overlap(one, r.reads) : becomes_stale) where = where | one;
      }
      if (where == region::none) continue;
      if (k == 0 && (c & any_flight) != 0) wait_for_flights();
      provider_.poison(r.variable, r.level, component, where, memory(k));
    }
  });
}

template <Provider P, Observer O>
void ledger<P, O>::lose(std::span<request const> list, component_range range, std::string_view routine) {
  for_each_cell(list, range, [&](request const& r, int component, cell& c) {
    c = after_loss(c, r.writes);
    observer_.lose(r, component, routine);
  });
}

template <Provider P, Observer O>
std::string ledger<P, O>::describe(request const& r, region where, int component) const {
  std::string text = variables_[std::size_t(r.variable)].name + ", level " + std::to_string(r.level) + ", " +
                     std::string(name_of(where));
  if (components() > 1) text += ", component " + std::to_string(component);
  return text;
}

template <Provider P, Observer O>
template <class F>
void ledger<P, O>::for_each_cell(std::span<request const> list, component_range range, F&& f) {
  for (int c = range.begin; c < range.end; ++c)
    for (request const& r : list) f(r, c, cells(c)[index(r.variable, r.level)]);
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
  for_each_cell(list, range, [&](request const& r, int component, cell& c) {
    region where = region::none;
    for (region one : single_regions)
      if (overlap(one, r.reads) && !residency::is_valid(c, one, reader) && !residency::is_valid(c, one, to) &&
          source_of(c, one) == from)
        where = where | one;
    if (where == region::none) return;
    if (to == host && (c & any_flight & ~flight_bit(from)) != 0) wait_for_flights(); // its destination is a source
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
    cell& c = cells(t.component)[index(t.variable, t.level)];
    c = after_copy(c, t.where, to);
    if (got == answer::moved) c |= bits_of(t.where, from);
    else if (to != host) c |= flight_bit(to);
    traffic_.add_copy(t.variable);
    for (region one : single_regions)
      if (overlap(one, t.where))
        traffic_.add_bytes(t.variable, to == host ? way::to_host : way::to_device, one,
                           variables_[std::size_t(t.variable)].bytes[std::size_t(index_of(one))]);
  }
  observer_.after(batch, routine, true);
}

// Waits for every device that a copy may be under way to; finer would cost state.
template <Provider P, Observer O>
void ledger<P, O>::wait_for_flights() {
  cell all = 0;
  for (cell& c : cells_) {
    all |= c;
    c &= ~any_flight;
  }
  for (int d = 1; d < memories_; ++d)
    if ((all & flight_bit(memory(d))) != 0) provider_.wait(memory(d));
}

} // namespace keel::residency
