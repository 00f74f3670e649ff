// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The memory of scratches: a pool for those that share it, in each memory where they are used.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/prepared_schedule.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace keel::residency::detail {

class scratch_memory {
public:
  scratch_memory(arrays& of, book& in) : arrays_(of), book_(in) {}

  /// The scratches of a schedule that begins get pools; throws if another one that has some runs.
  void begin(prepared_schedule& p);
  void end(prepared_schedule const& p);
  /// The scratches that an entry writes in `m` have arrays afterwards, and what shares their memory is valid nowhere.
  void place(std::span<request const> asked, memory m);
  /// In all memories.
  [[nodiscard]] std::size_t bytes() const;
  /// How often arrays may have got other places.
  [[nodiscard]] int moves() const { return moves_; }
  void forget() { all_ = {}, pools_.clear(); }

private:
  /// The bytes of a pool, for all components.
  [[nodiscard]] std::size_t bytes(std::size_t pool) const;

  arrays& arrays_;
  book& book_;
  scratches all_;                                 // of all schedules that ran
  std::vector<std::shared_ptr<std::byte>> pools_; // by memory
  bool is_used_ = false;
  int moves_ = 0;
};

inline std::size_t scratch_memory::bytes(std::size_t pool) const {
  std::size_t most = 0;
  for (int v : all_.pools[pool]) {
    std::size_t bytes = 0;
    for (int c = 0; c < arrays_.components(); ++c) bytes += arrays_.scratch_size_of(v, c);
    most = std::max(most, bytes);
  }
  return most;
}

inline std::size_t scratch_memory::bytes() const {
  std::size_t all = 0;
  for (std::size_t i = 0; i < pools_.size(); ++i)
    if (pools_[i] != nullptr) all += bytes(i / std::size_t(arrays_.memories()));
  return all;
}

inline void scratch_memory::begin(prepared_schedule& p) {
  if (p.scratch.variables.empty()) return;
  if (is_used_)
    throw error("residency", "a routine that runs in an entry with scratch runs another entry with scratch",
                "they could have the same memory", "Run it before or after");
  if (!p.has_pools && all_.add(p.scratch)) { // nothing of a scratch is valid now, so all may move
    ++moves_;
    arrays_.settle_host();
    for (int m = 1; m < arrays_.memories(); ++m)
      if (book_.ledger().is_open(memory(m))) arrays_.provider().queue_of(memory(m)).fence();
    for (int v : all_.variables) arrays_.free_scratch(v);
    pools_.assign(all_.pools.size() * std::size_t(arrays_.memories()), nullptr);
    for (std::size_t b = 0; b < all_.pools.size() && book_.prints(); ++b) {
      std::string names;
      for (int v : all_.pools[b]) names.append(names.empty() ? "" : ", ").append(book_.ledger().name(v));
      policy::log(policy::log_level::information,
                  "residency: scratch in " + std::to_string(bytes(b)) + " bytes: " + names);
    }
  }
  p.has_pools = is_used_ = true;
}

inline void scratch_memory::end(prepared_schedule const& p) {
  if (p.scratch.variables.empty()) return;
  is_used_ = false;
  for (int v : p.scratch.variables) book_.ledger().forget(v);
}

inline void scratch_memory::place(std::span<request const> asked, memory m) {
  for (request const& r : asked) {
    variable_record const& v = arrays_.variables()[std::size_t(r.variable)];
    if (!v.about->is_scratch || r.writes == region::none) continue;
    std::size_t const pool = all_.pool_of(r.variable);
    for (int other : all_.pools[pool])
      if (other != r.variable) book_.ledger().forget(other);
    if (arrays_.views(r.variable, m) != nullptr) continue;
    std::shared_ptr<std::byte>& here = pools_[pool * std::size_t(arrays_.memories()) + std::size_t(m)];
    std::size_t const size = std::max<std::size_t>(bytes(pool), 1);
    try {
      constexpr std::align_val_t line{128};
      if (here == nullptr && m != host) here = arrays_.provider().queue_of(m).allocate("keel: scratch", size);
      if (here == nullptr)
        here = {static_cast<std::byte*>(::operator new(size, line)),
                [](std::byte* at) { ::operator delete(at, std::align_val_t{128}); }};
    } catch (std::exception const& e) {
      throw error("residency",
                  book_.ledger().describe(m) + " has no room for " + std::to_string(size) +
                      " bytes of scratch, among them " + std::string(v.about->name),
                  reason_of(e), "Take smaller arrays, or more ranks");
    }
    arrays_.make_at(r.variable, m, here.get());
  }
}

} // namespace keel::residency::detail
