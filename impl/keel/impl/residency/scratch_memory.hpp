// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// The memory of scratches: a pool for those that share it, in each memory where they are used.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/prepared_schedule.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/policy/macros.hpp>

#include <cstddef>
#include <memory>
#include <span>
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
  void forget() { all_ = {}, pools_.clear(); }

private:
  /// The bytes of a pool, for all components.
  [[nodiscard]] std::size_t bytes(std::size_t pool) const;

  arrays& arrays_;
  book& book_;
  scratches all_;                                 // of all schedules that ran
  std::vector<std::shared_ptr<std::byte>> pools_; // by memory
  bool is_used_ = false;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/scratch_memory.ipp>
#endif
