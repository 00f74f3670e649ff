// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A provider whose memories hold one number for each region, really separate. What is given to a
/// device, copies and kernels, waits in its queue until somebody waits for it. It counts and
/// writes down what it is asked for, and fails when told.

#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

namespace kr = keel::residency;

class recording_provider {
public:
  using value = std::int64_t;
  static constexpr value poisoned = -1000;

  explicit recording_provider(int memories, int components = 1)
      : queues_(std::size_t(memories)), components_(components) {}

  /// To be called before the ledger's `add`, in the same order.
  void add(int levels, kr::region_bytes const& bytes) {
    arrays_.push_back({bytes, {}, {}});
    for (int l = 0; l < levels; ++l) arrays_.back().slots.push_back(std::size_t(l));
    arrays_.back().data.resize(queues_.size());
  }
  value& at(int variable, int level, int component, kr::region single, kr::memory m) {
    array& a = arrays_[std::size_t(variable)];
    return a.data[std::size_t(m)][std::size_t(component)][a.slots[std::size_t(level)]][std::size_t(index_of(single))];
  }

  /// What a kernel does: on the host now, on a device when its turn comes. A read of another value
  /// than the expected one is counted in `mistakes`.
  void read(int variable, int level, kr::region single, kr::memory m, value expected) {
    give(m, {&at(variable, level, 0, single, m), nullptr, expected, true});
  }
  void write(int variable, int level, kr::region single, kr::memory m, value v) {
    give(m, {&at(variable, level, 0, single, m), nullptr, v, false});
  }

  void create(int variable, kr::memory m) {
    record("create");
    if (creates_until_failure >= 0 && creates_until_failure-- == 0) throw std::bad_alloc();
    auto& a = arrays_[std::size_t(variable)];
    auto& there = a.data[std::size_t(m)];
    if (!there.empty()) throw std::logic_error("created twice");
    there.assign(std::size_t(components_), std::vector<std::array<value, kr::region_count>>(
                                               a.slots.size(), {poisoned, poisoned, poisoned, poisoned}));
  }
  kr::started copy_cycle(int variable) {
    record("copy_cycle");
    auto& slots = arrays_[std::size_t(variable)].slots;
    std::rotate(slots.begin(), slots.end() - 1, slots.end());
    return {};
  }
  kr::started copy_from_past(int variable, int component, kr::memory m) {
    record("copy_from_past");
    may_fail();
    for (kr::region r : kr::single_regions)
      give(m, {&at(variable, 0, component, r, m), &at(variable, 1, component, r, m), 0, false});
    return {};
  }
  kr::started to_device(std::span<kr::transfer const> batch) { return begin(batch, "to_device"); }
  kr::started post_sync(std::span<kr::transfer const> batch) { return begin(batch, "post_sync"); }
  kr::finished to_host(std::span<kr::transfer const> batch) { return finish(batch, "to_host"); }
  void begin_to_host(std::span<kr::transfer const> batch) {
    record("begin_to_host");
    may_fail();
    each(batch, bytes_to_host, [&](task const& t) { give(batch[0].from, t); });
  }
  kr::finished pre_sync(std::span<kr::transfer const> batch) { return finish(batch, "pre_sync"); }
  void wait(kr::memory m) {
    record("wait");
    drain(m);
  }
  void poison(int variable, int level, int component, kr::region where, kr::memory m) {
    for (kr::region one : kr::single_regions)
      if (overlap(one, where)) give(m, {&at(variable, level, component, one, m), nullptr, poisoned, false});
  }

  /// Lets what is queued for `m` happen.
  void drain(kr::memory m) {
    for (task const& t : queues_[std::size_t(m)]) perform(t);
    queues_[std::size_t(m)].clear();
  }
  [[nodiscard]] std::size_t pending(kr::memory m) const { return queues_[std::size_t(m)].size(); }

  std::vector<std::string> calls;
  bool writes_down = false;
  kr::answer answers = kr::answer::copied;
  int creates_until_failure = -1; ///< the same for memory
  int fails_in = -1;              ///< the copy that throws, counted down; never where negative
  std::uint64_t bytes_to_host = 0, bytes_to_device = 0;
  std::uint64_t copies = 0;
  long mistakes = 0;

private:
  struct array {
    kr::region_bytes bytes;
    std::vector<std::size_t> slots; // by level
    std::vector<std::vector<std::vector<std::array<value, kr::region_count>>>>
        data; // by memory, component, slot, region
  };
  // A copy where there is a source; else a check of a value, or a write of it.
  struct task {
    value* to;
    value const* from;
    value with;
    bool checks;
  };
  void perform(task const& t) {
    if (t.from) *t.to = *t.from;
    else if (!t.checks) *t.to = t.with;
    else mistakes += *t.to != t.with;
  }
  void give(kr::memory m, task const& t) {
    if (m == kr::host) perform(t);
    else queues_[std::size_t(m)].push_back(t);
  }

  void record(char const* what) {
    if (writes_down) calls.emplace_back(what);
  }
  void may_fail() {
    if (fails_in >= 0 && fails_in-- == 0) throw std::runtime_error("the bus is on fire");
  }
  template <class F>
  void each(std::span<kr::transfer const> batch, std::uint64_t& counter, F&& f) {
    for (kr::transfer const& t : batch) {
      ++copies;
      for (kr::region one : kr::single_regions) {
        if (!overlap(one, t.where)) continue;
        counter += arrays_[std::size_t(t.variable)].bytes[std::size_t(index_of(one))];
        f(task{&at(t.variable, t.level, t.component, one, t.to), &at(t.variable, t.level, t.component, one, t.from), 0,
               false});
      }
    }
  }
  kr::started begin(std::span<kr::transfer const> batch, char const* what) {
    record(what);
    may_fail();
    each(batch, bytes_to_device, [&](task const& t) { give(batch[0].to, t); });
    if (answers == kr::answer::moved) drain(batch[0].to), spoil(batch);
    return {answers};
  }
  kr::finished finish(std::span<kr::transfer const> batch, char const* what) {
    record(what);
    may_fail();
    drain(batch[0].from);
    each(batch, bytes_to_host, [&](task const& t) { perform(t); });
    if (answers == kr::answer::moved) spoil(batch);
    return {answers};
  }
  void spoil(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) poison(t.variable, t.level, t.component, t.where, t.from);
  }

  std::vector<array> arrays_;
  std::vector<std::vector<task>> queues_;
  int components_;
};

} // namespace test
