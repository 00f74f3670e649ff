// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What fields found out about the schedules that they ran, and look up once.

#include <keel/impl/residency/arrays.hpp>
#include <keel/impl/residency/schedule_view.hpp>
#include <keel/impl/schedule/prefetch.hpp>
#include <keel/impl/schedule/scratch.hpp>
#include <keel/policy/macros.hpp>
#include <keel/validity/ledger.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace keel::residency::detail {

class recordings;

/// What certain fields found out about a schedule.
struct prepared_schedule {
  prepared_schedule(schedule_view const& v, arrays const& on);
  ~prepared_schedule();

  std::vector<request> requests; ///< of all nodes; see `requests_of`
  schedule_view what;
  prefetch_table prefetches;
  scratches scratch;
  bool has_pools = false; ///< the fields know its scratches
  struct node_state {
    std::optional<prepared> call;         ///< of a routine that ran: its requests with their states
    bool is_plain = false;                ///< a routine, and nothing begins or ends around it
    memory runs_in = host;                ///< of a graph: all of it; none if there are several
    bool combines_values = false;         ///< of a graph: an all_reduce is in it
    std::unique_ptr<recordings> recorded; ///< of the first of entries that are recorded together
  };
  std::vector<node_state> nodes;
  std::optional<prepared> whole; ///< of a schedule of routines: what they need before them, and do, together
  int scratch_moves = 0;         ///< when it was recorded
  bool is_step = false;          ///< it ran as a step
  bool is_closed = false;        ///< nothing watches, and none of them reads what one before it leaves stale
};

/// Those of certain fields, by their actions: a hash table with open addressing, at most half full.
class schedule_cache {
public:
  explicit schedule_cache(arrays const& on) : arrays_(on) {}
  [[nodiscard]] prepared_schedule& of(schedule_view const& what) {
    if (last_ != nullptr && last_->what.actions == what.actions) [[likely]]
      return *last_;
    return *(last_ = &find(what));
  }
  /// Says that one runs as a step.
  void note_step(prepared_schedule& one, schedule_nodes const& table) {
    if (!one.is_step) add_step(table), one.is_step = true;
  }
  /// Those that ran as steps, also before a `clear`.
  [[nodiscard]] std::vector<schedule_nodes> steps() const;
  void clear() { last_ = nullptr, std::fill(slots_.begin(), slots_.end(), nullptr), all_.clear(); }

private:
  prepared_schedule& find(schedule_view const& what) {
    std::size_t const mask = slots_.size() - 1;
    for (std::size_t at = place_of(what.actions, mask); slots_[at] != nullptr; at = (at + 1) & mask)
      if (slots_[at]->what.actions == what.actions) [[likely]]
        return *slots_[at];
    return add(what);
  }
  [[nodiscard]] static std::size_t place_of(action const* key, std::size_t mask) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * 0x9e3779b97f4a7c15U >> 40 & mask;
  }
  prepared_schedule& add(schedule_view const& what);
  void add_step(schedule_nodes const& table);

  arrays const& arrays_;
  prepared_schedule* last_ = nullptr; ///< that ran last
  std::vector<prepared_schedule*> slots_ = std::vector<prepared_schedule*>(16);
  std::vector<std::unique_ptr<prepared_schedule>> all_;
  std::vector<schedule_nodes> steps_; ///< as they were given
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/prepared_schedule.ipp>
#endif
