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
                " components are refused", "there are 1 to " + std::to_string(max_memories) + " memories, and at least one component");
}

template <Provider P, Observer O>
int ledger<P, O>::add(std::string_view name, int levels, region_bytes const& bytes, std::string_view group) {
  int const number = int(variables_.size());
  if (!numbers_.emplace(name, number).second)
    throw error("residency::ledger", "there are two variables " + std::string(name), "they are found by name", "Rename one");
  cell empty = 0;
  for (region one : single_regions)
    if (bytes[std::size_t(index_of(one))] == 0) empty |= bits_of(one);
  variables_.push_back({levels, false, empty, size_, bytes, std::string(group), {}});
  leavers_.reserve(variables_.capacity());
  size_ += std::size_t(levels * components_);
  cells_.resize(size_ + padding, valid_nowhere);
  leaving_.resize(size_ + padding);
  traffic_.add_variable(std::string(name));
  observer_.add(name, levels, components_, bytes);
  for (int m = 0; m < memories_; ++m)
    if (is_open(memory(m))) {
      open_ &= ~(1U << m);
      open(memory(m));
    }
  return number;
}

// A region that is empty in one component alone is tracked like others.
template <Provider P, Observer O>
void ledger<P, O>::resize(int variable, int component, region_bytes const& bytes) {
  record& v = variables_[std::size_t(variable)];
  v.by_component.resize(std::size_t(components_), v.bytes);
  v.by_component[std::size_t(component)] = bytes;
  for (region one : single_regions)
    if (bytes[std::size_t(index_of(one))] != 0) v.empty &= cell(~bits_of(one));
  if constexpr (CountsComponents<O>) observer_.resize(variable, component, bytes);
}

template <Provider P, Observer O>
int ledger<P, O>::find(std::string_view name) const {
  auto const found = numbers_.find(std::string(name));
  if (found == numbers_.end())
    throw error("residency::ledger", "there is no variable " + std::string(name), "nobody added it", "Add it first");
  return found->second;
}

template <Provider P, Observer O>
void ledger<P, O>::open(memory m, std::string_view routine) {
  if (is_open(m)) return;
  for (int& v = created_[std::size_t(m)]; v < variables(); ++v) {
    try {
      provider_.create(v, m);
    } catch (std::exception const& e) {
      throw error("residency", "memory " + std::to_string(int(m)) + " has no room for " + std::string(name(v)) + ", for routine " +
                  std::string(routine), e.what(), "Take smaller arrays, or more ranks");
    }
    observer_.create(v, m);
  }
  open_ |= 1U << int(m);
}

template <Provider P, Observer O>
void ledger<P, O>::cycle(int variable) {
  record const& v = variables_[std::size_t(variable)];
  if (v.levels == 1) return;
  (void)provider_.copy_cycle(variable);
  cycle_cells(cells_.data() + v.first, v.levels, components_);
  cycle_flights(leaving_.data() + v.first, v.levels, components_);
  observer_.cycle(variable);
}

template <Provider P, Observer O>
void ledger<P, O>::copy_from_past(int variable) {
  for (int c = 0; c < components(); ++c) {
    std::size_t const current = index(variable, 0, c), past = index(variable, 1, c);
    if (leaving_[current] != 0) wait_for_flights();
    cells_[current] = valid_nowhere; // until all is done
    for (int m = 0; m < memories_; ++m) {
      bool something = false;
      for (region one : single_regions) something = something || residency::is_valid(cells_[past], one, memory(m));
      if (something) (void)provider_.copy_from_past(variable, c, memory(m));
    }
    cells_[current] = cells_[past];
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
  open(m, routine);
  if (!is_ready(list, m, range)) acquire(list, m, routine, range);
}

template <Provider P, Observer O>
prepared ledger<P, O>::prepare(std::span<request const> list, memory m, std::string_view routine, component_range range) {
  open(m);
  prepared made;
  made.list.assign(list.begin(), list.end());
  made.routine = routine, made.where = m, made.range = range.of(components_);
  for (request const& r : list)
    for (int c = range.begin; c < made.range.end; ++c) {
      auto const at = std::uint32_t(index(r.variable, r.level, c));
      if (r.reads != region::none) made.reads.push_back({at, bits_of(r.reads, m)});
      if (r.writes != region::none) made.writes.push_back({at, masks_of_write(r.writes, m)});
    }
  return made;
}

template <Provider P, Observer O>
void ledger<P, O>::pre_call(prepared const& call) {
  unsigned lacks = 0;
  for (auto const& r : call.reads) lacks |= unsigned(cells_[r.at] & r.bits);
  if (call.where == host)
    for (auto const& w : call.writes) lacks |= leaving_[w.at];
  if (lacks != 0) [[unlikely]] acquire(call.list, call.where, call.routine, call.range);
}

template <Provider P, Observer O>
void ledger<P, O>::post_call(prepared const& call) {
  for (auto const& w : call.writes) cells_[w.at] = after_write(cells_[w.at], w.masks);
  if constexpr (O::is_told) for_each_cell(call.list, call.range, [&](request const& r, int component, std::size_t) {
    observer_.write(r, component, call.where, call.routine);
  });
}

template <Provider P, Observer O>
void ledger<P, O>::post_call(std::span<request const> list, memory m, component_range range, std::string_view routine) {
  for_each_cell(list, range, [&](request const& r, int component, std::size_t at) {
    cells_[at] = after_write(cells_[at], r.writes, m);
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
bool ledger<P, O>::is_ready(std::span<request const> list, memory m, component_range range) const {
  unsigned lacks = 0;
  int const end = range.of(components_).end;
  for (request const& r : list) {
    cell const bits = bits_of(r.reads, m);
    bool const may_overtake = m == host && r.writes != region::none;
    std::size_t at = index(r.variable, r.level, range.begin);
    for (int c = range.begin; c < end; ++c, ++at) lacks |= unsigned(cells_[at] & bits) | (may_overtake ? leaving_[at] : 0U);
  }
  return lacks == 0;
}

template <Provider P, Observer O>
void ledger<P, O>::poison(std::span<request const> list, memory m, component_range range) {
  for_each_cell(list, range, [&](request const& r, int component, std::size_t at) {
    for (int k = 0; k < memories_; ++k) {
      if (!is_open(memory(k))) continue;
      region where = region::none;
      for (region one : single_regions) {
        bool const is_written = memory(k) == m && overlap(one, r.writes);
        bool const becomes_stale = overlap(one, spoiled_by(r.writes)) && residency::is_valid(cells_[at], one, memory(k));
        if (is_written ? !overlap(one, r.reads) : becomes_stale) where = where | one;
      }
      if (where == region::none) continue;
      if (k == 0 && leaving_[at] != 0) wait_for_flights();
      provider_.poison(r.variable, r.level, component, where, memory(k));
    }
  });
}

template <Provider P, Observer O>
void ledger<P, O>::lose(std::span<request const> list, component_range range, std::string_view routine) {
  for_each_cell(list, range, [&](request const& r, int component, std::size_t at) {
    cells_[at] = after_loss(cells_[at], r.writes);
    observer_.lose(r, component, routine);
  });
}

template <Provider P, Observer O>
std::string ledger<P, O>::describe(request const& r, region where, int component) const {
  std::string text = std::string(name(r.variable)) + ", level " + std::to_string(r.level) + ", " +
                     std::string(name_of(where));
  if (components() > 1) text += ", component " + std::to_string(component);
  return text;
}

template <Provider P, Observer O>
template <class F>
void ledger<P, O>::for_each_cell(std::span<request const> list, component_range range, F&& f) {
  for (int c = range.begin, end = range.of(components_).end; c < end; ++c)
    for (request const& r : list) f(r, c, index(r.variable, r.level, c));
}

} // namespace keel::residency
