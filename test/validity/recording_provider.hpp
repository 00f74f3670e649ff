// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A provider whose memories hold a number for each region. It counts and writes down what it is asked for, and fails
/// when told.

#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

namespace kr = keel::residency;

/// A level of a component is a word in each memory, 16 bits a region. Work given to a device is done at once; what it
/// may still be reading on the host is remembered, and a write there is a mistake. What is on its way to the host is
/// poison there until somebody waits.
class recording_provider {
public:
  using word = std::uint64_t;
  static constexpr word poisoned = 0xeeee'eeee'eeee'eeee, one_bit_each = 0x0001'0001'0001'0001;

  /// A level of a component.
  struct cell {
    std::array<word, kr::max_memories> in{};
    word leaving = 0; ///< for each region the devices that may be reading it on the host, a bit each
    struct {
      word mask = 0, values = 0;
      int from = 0;
    } arriving; ///< at the host
  };

  explicit recording_provider(int /*memories*/, int components = 1) : components_(components) {}

  /// To be called before the ledger's `add`, in the same order.
  void add(int levels, kr::region_bytes const& bytes) {
    arrays_.push_back({bytes, cells_.size(), std::vector<std::size_t>(std::size_t(levels))});
    std::iota(arrays_.back().slots.begin(), arrays_.back().slots.end(), std::size_t{0});
    cells_.resize(cells_.size() + std::size_t(levels * components_));
  }
  [[nodiscard]] static constexpr word mask_of(kr::region r) {
    unsigned const n = unsigned(r);
    return (n & 1U) * word{0xffff} | (n >> 1 & 1U) * (word{0xffff} << 16) | (n >> 2 & 1U) * (word{0xffff} << 32) |
           (n >> 3 & 1U) * (word{0xffff} << 48);
  }
  [[nodiscard]] cell& at(int variable, int level, int component) {
    auto const& v = arrays_[std::size_t(variable)];
    return cells_[v.first + v.slots[std::size_t(level)] * std::size_t(components_) + std::size_t(component)];
  }
  /// The number of each region in a memory that was created.
  [[nodiscard]] word& in(int variable, int level, int component, kr::memory m) {
    if ((arrays_[std::size_t(variable)].created >> int(m) & 1U) == 0) throw std::logic_error("it was never made");
    return at(variable, level, component).in[std::size_t(m)];
  }
  void write(int variable, int level, int component, kr::region where, kr::memory m, word values) {
    word const mask = mask_of(where);
    cell const& c = at(variable, level, component);
    mistakes += m == kr::host && ((c.leaving | c.arriving.mask) & mask) != 0;
    word& here = in(variable, level, component, m);
    here = (here & ~mask) | (values & mask);
  }

  void create(int variable, kr::memory m) {
    record("create");
    if (creates_until_failure >= 0 && creates_until_failure-- == 0) throw std::bad_alloc();
    auto& v = arrays_[std::size_t(variable)];
    if ((v.created >> int(m) & 1U) != 0) throw std::logic_error("created twice");
    v.created |= 1U << int(m);
    for (std::size_t n = 0; n < v.slots.size() * std::size_t(components_); ++n)
      cells_[v.first + n].in[std::size_t(m)] = poisoned;
  }
  kr::started copy_cycle(int variable) {
    record("copy_cycle");
    may_fail();
    auto& slots = arrays_[std::size_t(variable)].slots;
    std::rotate(slots.begin(), slots.end() - 1, slots.end());
    return {};
  }
  kr::started copy_from_past(int variable, int component, kr::memory m) {
    record("copy_from_past");
    may_fail();
    write(variable, 0, component, kr::region::everywhere, m, in(variable, 1, component, m));
    return {};
  }
  kr::started to_device(std::span<kr::transfer const> batch) { return begin(batch, "to_device"); }
  kr::started post_sync(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) mistakes += overlap(t.where, kr::region::owned);
    return begin(batch, "post_sync");
  }
  kr::finished to_host(std::span<kr::transfer const> batch) { return finish(batch, "to_host"); }
  kr::finished pre_sync(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) mistakes += t.where != kr::region::rim;
    return finish(batch, "pre_sync");
  }
  void begin_to_host(std::span<kr::transfer const> batch) {
    record("begin_to_host");
    may_fail();
    for (kr::transfer const& t : batch) {
      cell& c = at(t.variable, t.level, t.component);
      word const mask = mask_of(t.where), values = in(t.variable, t.level, t.component, t.from);
      mistakes += (c.leaving & mask & ~(one_bit_each << int(t.from))) != 0; // its own queue keeps the order
      c.in[0] = (c.in[0] & ~mask) | (poisoned & mask);
      c.arriving = {c.arriving.mask | mask, (c.arriving.values & ~mask) | (values & mask), int(t.from)};
      count(t, bytes_to_host);
    }
  }
  /// If it fails, nothing has arrived.
  void wait(kr::memory m) {
    record("wait");
    try {
      if (waits_fail) may_fail();
    } catch (...) {
      failed_wait = true;
      for (cell& c : cells_)
        if ((c.leaving >> int(m) & one_bit_each) != 0) c.in[std::size_t(m)] = poisoned;
      throw;
    }
    ++waits;
    drain(m);
  }
  void poison(int variable, int level, int component, kr::region where, kr::memory m) {
    write(variable, level, component, where, m, poisoned);
  }

  /// Lets all end that is under way to `m` or from there.
  void drain(kr::memory m) {
    for (cell& c : cells_) {
      c.leaving &= ~(one_bit_each << int(m));
      if (c.arriving.mask == 0 || c.arriving.from != int(m)) continue;
      c.in[0] = (c.in[0] & ~c.arriving.mask) | (c.arriving.values & c.arriving.mask);
      c.arriving.mask = 0;
    }
  }
  [[nodiscard]] bool is_pending(kr::memory m) const {
    return std::ranges::any_of(cells_, [m](cell const& c) {
      return (c.leaving >> int(m) & one_bit_each) != 0 || (c.arriving.mask != 0 && c.arriving.from == int(m));
    });
  }
  std::vector<std::string> calls;
  bool writes_down = false;
  kr::answer answers = kr::answer::copied; ///< if moved, the source is poisoned
  int creates_until_failure = -1;          ///< counted down; never where negative
  int fails_in = -1, failures = 0;         ///< the same for calls that copy or move levels
  bool waits_fail = false, failed_wait = false;
  std::uint64_t bytes_to_host = 0, bytes_to_device = 0, copies = 0;
  long waits = 0, mistakes = 0;

private:
  struct array {
    kr::region_bytes bytes;
    std::size_t first;
    std::vector<std::size_t> slots; // by level
    unsigned created = 0;           // a bit for each memory
  };

  void record(char const* what) {
    if (writes_down) calls.emplace_back(what);
  }
  void may_fail() {
    if (fails_in < 0 || fails_in-- != 0) return;
    ++failures;
    throw std::runtime_error("the bus is on fire");
  }
  void count(kr::transfer const& t, std::uint64_t& bytes) {
    mistakes += t.from == t.to || (t.from != kr::host && t.to != kr::host) || t.where == kr::region::none;
    ++copies;
    for (kr::region one : kr::single_regions)
      if (overlap(one, t.where)) bytes += arrays_[std::size_t(t.variable)].bytes[std::size_t(index_of(one))];
  }
  void copy(kr::transfer const& t, std::uint64_t& bytes) {
    count(t, bytes);
    write(t.variable, t.level, t.component, t.where, t.to, in(t.variable, t.level, t.component, t.from));
    if (answers == kr::answer::moved) poison(t.variable, t.level, t.component, t.where, t.from);
  }
  kr::started begin(std::span<kr::transfer const> batch, char const* what) {
    record(what);
    may_fail();
    for (kr::transfer const& t : batch) {
      mistakes += t.to != batch[0].to;
      copy(t, bytes_to_device);
      if (answers == kr::answer::copied)
        at(t.variable, t.level, t.component).leaving |= mask_of(t.where) & (one_bit_each << int(t.to));
    }
    return {answers};
  }
  kr::finished finish(std::span<kr::transfer const> batch, char const* what) {
    record(what);
    may_fail();
    drain(batch[0].from);
    for (kr::transfer const& t : batch) {
      mistakes += t.from != batch[0].from;
      copy(t, bytes_to_host);
    }
    return {answers};
  }

  int components_;
  std::vector<array> arrays_;
  std::vector<cell> cells_; // by variable, slot and component
};

} // namespace test
