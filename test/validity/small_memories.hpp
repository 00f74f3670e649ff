// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// A provider whose memories cost next to nothing, so that a state can be written to them instead of led to.

#include <keel/validity/concepts.hpp>
#include <keel/validity/traffic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace test {

namespace kr = keel::residency;

/// Memories in which a level of a component is a word, a byte for each region. Work given to a device is done at once;
/// what it may still be reading on the host is remembered, and who overwrites that makes a mistake. What is on its way
/// to the host is there when somebody has waited; until then there is poison.
class small_memories {
public:
  using word = std::uint32_t;
  static constexpr word poisoned = 0xeeeeee;
  static constexpr kr::region_bytes bytes{5, 7, 11, 0}; // no walls

  small_memories(int variables, int levels, int memories, int components)
      : levels_(levels), memories_(memories), components_(components),
        words_(std::size_t(variables * levels * components * memories)),
        in_flight_(std::size_t(variables * levels * components)), coming_(in_flight_.size()),
        slots_(std::size_t(variables * levels)) {}

  [[nodiscard]] static word mask_of(kr::region r) {
    unsigned const n = std::uint8_t(r);
    return (n & 1U) * 0xffU | (n >> 1 & 1U) * 0xff00U | (n >> 2 & 1U) * 0xff0000U;
  }
  [[nodiscard]] word& at(int variable, int level, int component, int m) {
    return words_[cell(variable, level, component) * std::size_t(memories_) + std::size_t(m)];
  }
  /// For each region a byte: the devices that may be reading it.
  [[nodiscard]] word& leaving(int variable, int level, int component) {
    return in_flight_[cell(variable, level, component)];
  }
  /// What is on its way to the host.
  struct coming {
    word mask = 0, values = 0;
    int from = 0;
  };
  [[nodiscard]] coming& arriving(int variable, int level, int component) {
    return coming_[cell(variable, level, component)];
  }
  void write(int variable, int level, int component, kr::region where, int m, word values) {
    word const mask = mask_of(where);
    if (m == 0)
      mistakes += ((leaving(variable, level, component) | arriving(variable, level, component).mask) & mask) != 0;
    word& here = at(variable, level, component, m);
    here = (here & ~mask) | (values & mask);
  }
  /// Levels back in the order of their numbers, and nothing counted.
  void reset() {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = std::uint8_t(i % std::size_t(levels_));
    to_host_bytes = to_device_bytes = 0, waits = 0, mistakes = 0, fails_in = -1, failures = 0, failed_wait = false;
  }

  void create(int, kr::memory) {}
  kr::started copy_cycle(int variable) {
    may_fail();
    std::uint8_t* const first = slots_.data() + variable * levels_;
    std::rotate(first, first + levels_ - 1, first + levels_);
    return {};
  }
  kr::started copy_from_past(int variable, int component, kr::memory m) {
    may_fail();
    write(variable, 0, component, kr::region::everywhere, int(m), at(variable, 1, component, int(m)));
    return {};
  }
  kr::started to_device(std::span<kr::transfer const> batch) { return begin(batch); }
  kr::started post_sync(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) mistakes += t.where != kr::region::halo;
    return begin(batch);
  }
  void begin_to_host(std::span<kr::transfer const> batch) {
    may_fail();
    for (kr::transfer const& t : batch) {
      word const values = at(t.variable, t.level, t.component, int(t.from));
      copy(t, to_host_bytes);
      write(t.variable, t.level, t.component, t.where, 0, poisoned);
      arriving(t.variable, t.level, t.component) = {mask_of(t.where), values, int(t.from)};
    }
  }
  kr::finished to_host(std::span<kr::transfer const> batch) { return finish(batch); }
  kr::finished pre_sync(std::span<kr::transfer const> batch) {
    for (kr::transfer const& t : batch) mistakes += t.where != kr::region::rim;
    return finish(batch);
  }
  /// Where it fails, nothing has arrived.
  void wait(kr::memory m) {
    try {
      may_fail();
    } catch (...) {
      failed_wait = true;
      for (std::size_t i = 0; i < in_flight_.size(); ++i)
        if ((in_flight_[i] >> int(m) & 0x010101U) != 0) words_[i * std::size_t(memories_) + std::size_t(m)] = poisoned;
      throw;
    }
    ++waits;
    let_end(m);
  }
  void poison(int variable, int level, int component, kr::region where, kr::memory m) {
    write(variable, level, component, where, int(m), poisoned);
  }

  std::uint64_t to_host_bytes = 0, to_device_bytes = 0;
  int waits = 0, mistakes = 0;
  kr::answer answers = kr::answer::copied; ///< where moved, the source is poisoned
  int fails_in = -1, failures = 0;         ///< the call that throws, counted down; never where negative
  bool failed_wait = false;

private:
  [[nodiscard]] std::size_t cell(int variable, int level, int component) const {
    return std::size_t((variable * levels_ + slots_[std::size_t(variable * levels_ + level)]) * components_ +
                       component);
  }
  void may_fail() {
    if (fails_in < 0 || fails_in-- != 0) return;
    ++failures;
    throw std::runtime_error("the bus is on fire");
  }
  void let_end(kr::memory m) {
    for (word& w : in_flight_) w &= ~(0x010101U << int(m));
    for (std::size_t i = 0; i < coming_.size(); ++i) {
      coming& c = coming_[i];
      if (c.mask == 0 || c.from != int(m)) continue;
      word& here = words_[i * std::size_t(memories_)];
      here = (here & ~c.mask) | (c.values & c.mask);
      c.mask = 0;
    }
  }
  void copy(kr::transfer const& t, std::uint64_t& counter) {
    mistakes += t.from == t.to || (t.from != kr::host && t.to != kr::host) || t.where == kr::region::none;
    for (kr::region one : kr::single_regions)
      if (overlap(one, t.where)) counter += bytes[std::size_t(index_of(one))];
    write(t.variable, t.level, t.component, t.where, int(t.to), at(t.variable, t.level, t.component, int(t.from)));
    if (answers == kr::answer::moved) poison(t.variable, t.level, t.component, t.where, t.from);
  }
  kr::started begin(std::span<kr::transfer const> batch) {
    may_fail();
    for (kr::transfer const& t : batch) {
      mistakes += t.to != batch[0].to;
      copy(t, to_device_bytes);
      if (answers == kr::answer::copied)
        leaving(t.variable, t.level, t.component) |= mask_of(t.where) & (0x010101U << int(t.to));
    }
    return {answers};
  }
  kr::finished finish(std::span<kr::transfer const> batch) {
    may_fail();
    let_end(batch[0].from);
    for (kr::transfer const& t : batch) {
      mistakes += t.from != batch[0].from;
      copy(t, to_host_bytes);
    }
    return {answers};
  }

  int levels_, memories_, components_;
  std::vector<word> words_, in_flight_;
  std::vector<coming> coming_;
  std::vector<std::uint8_t> slots_; // by variable and level
};

} // namespace test
