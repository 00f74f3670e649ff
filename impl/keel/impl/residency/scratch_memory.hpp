// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The memory of scratches: a pool for those that share it, in each memory where they are used. Bodies of
/// fields_state.hpp.

#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/programs.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>

namespace keel::residency::detail {

// For all components.
KEEL_INLINE std::size_t fields_state::pool_bytes(std::size_t pool) const {
  std::size_t most = 0;
  for (int v : scratch_.pools[pool]) {
    std::size_t bytes = 0;
    for (int c = 0; c < components(); ++c) bytes += scratch_size_of(v, c);
    most = std::max(most, bytes);
  }
  return most;
}

KEEL_INLINE std::size_t fields_state::scratch_bytes() const {
  std::size_t all = 0;
  for (std::size_t i = 0; i < pools_.size(); ++i)
    if (pools_[i] != nullptr) all += pool_bytes(i / std::size_t(ledger_.memories()));
  return all;
}

KEEL_INLINE void fields_state::begin_scratch(program& p) {
  if (p.scratch.variables.empty()) return;
  if (uses_scratch_)
    throw error("residency", "a routine that runs in an entry with scratch runs another entry with scratch",
                "they could have the same memory", "Run it before or after");
  if (!p.has_pools && scratch_.add(p.scratch)) { // nothing of a scratch is valid now, so all may move
    settle_host();
    for (int m = 1; m < ledger_.memories(); ++m)
      if (ledger_.is_open(memory(m))) provider_.queue_of(memory(m)).fence();
    for (int v : scratch_.variables)
      for (int m = 0; m < ledger_.memories(); ++m) arrays_[place_of(v, memory(m))].reset();
    pools_.assign(scratch_.pools.size() * std::size_t(ledger_.memories()), nullptr);
    for (std::size_t b = 0; b < scratch_.pools.size() && is_master_; ++b) {
      std::string names;
      for (int v : scratch_.pools[b]) names.append(names.empty() ? "" : ", ").append(ledger_.name(v));
      policy::log(policy::log_level::information,
                  "residency: scratch in " + std::to_string(pool_bytes(b)) + " bytes: " + names);
    }
  }
  p.has_pools = uses_scratch_ = true;
}

KEEL_INLINE void fields_state::end_scratch(program const& p) {
  if (p.scratch.variables.empty()) return;
  uses_scratch_ = false;
  for (int v : p.scratch.variables) ledger_.forget(v);
}

KEEL_INLINE void fields_state::place_scratch(std::span<request const> asked, memory m) {
  for (request const& r : asked) {
    variable_record const& v = variables_[std::size_t(r.variable)];
    if (!v.about->is_scratch || r.writes == region::none) continue;
    std::size_t const pool = scratch_.pool_of(r.variable);
    for (int other : scratch_.pools[pool])
      if (other != r.variable) ledger_.forget(other);
    if (arrays(r.variable, m) != nullptr) continue;
    std::shared_ptr<std::byte>& here = pools_[pool_place_of(r.variable, m)];
    std::size_t const bytes = std::max<std::size_t>(pool_bytes(pool), 1);
    try {
      constexpr std::align_val_t line{128};
      if (here == nullptr && m != host) here = provider_.queue_of(m).allocate("keel: scratch", bytes);
      if (here == nullptr)
        here = {static_cast<std::byte*>(::operator new(bytes, line)),
                [](std::byte* at) { ::operator delete(at, std::align_val_t{128}); }};
    } catch (std::exception const& e) {
      throw error("residency",
                  ledger_.describe(m) + " has no room for " + std::to_string(bytes) + " bytes of scratch, among them " +
                      std::string(v.about->name),
                  reason_of(e), "Take smaller arrays, or more ranks");
    }
    v.make(v.owner, r.variable, m);
  }
}

KEEL_INLINE void fields_state::poison_scratch(std::span<request const> asked, memory m, component_range range) {
  for (request const& r : asked) {
    if (!variables_[std::size_t(r.variable)].about->is_scratch || r.writes == region::none) continue;
    for (int c = range.begin; c < range.of(components()).end; ++c)
      for (region one : single_regions)
        if (!overlap(one, r.writes) && !ledger_.is_valid(r.variable, 0, one, m, c))
          provider_.poison(r.variable, 0, c, one, m);
  }
}

} // namespace keel::residency::detail
