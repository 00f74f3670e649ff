// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields run schedules, as data: what an entry needs is made valid, the entry runs, what it wrote is recorded.

#include <keel/impl/residency/schedule_view.hpp>
#include <keel/layout/grid.hpp>
#include <keel/policy/macros.hpp>
#include <keel/schedule/routine.hpp>
#include <keel/validity/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

class book;
struct device_span;
struct prepared_schedule;
struct reach;

/// Which entry of a `choose` runs. Throws if there is none of that number.
[[nodiscard]] int chosen_of(std::int64_t number, std::size_t entries, std::string const& condition);

/// The value of a reduction, whose type only `held` has: see steps/reductions.hpp.
struct kept_value {
  value_info const* about;
  std::unique_ptr<void, void (*)(void*)> held;
  void (*begin)(void*);
  void (*wait)(void*);
  bool is_there = false, is_under_way = false;

  void finish() {
    if (!is_under_way) return;
    is_under_way = false; // also if it fails
    wait(held.get());
    is_there = true;
  }
};

class executor {
public:
  /// What `what` calls gets `fields`.
  explicit executor(fields_state& fields);
  ~executor();
  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;

  /// Runs a schedule, or one entry. `arguments`: those of `step` or `run`, as the actions take them.
  void execute(schedule_view const& what, component_range range, void const* arguments);
  /// Runs a schedule as the next step of the fields.
  void step(schedule_view const& what, void const* arguments);
  /// The schedules that ran as steps.
  [[nodiscard]] std::vector<schedule_nodes> steps() const;
  void require_idle(std::string_view who) const;
  /// To be called when arrays have changed.
  void forget();

  /// As long as it lives, the next step runs, and other entries are refused.
  class step_scope {
  public:
    explicit step_scope(executor& of);
    ~step_scope() { of_.is_in_step_ = false; }
    step_scope(step_scope const&) = delete;
    step_scope& operator=(step_scope const&) = delete;

  protected:
    executor& of_;
  };

  /// A schedule of routines, if they can be called without a question now, because there is one memory,
  /// nothing watches, and all is valid that they read before they make it so. Else null. `is_step`: it runs as one.
  [[nodiscard]] prepared_schedule const* answered(schedule_view const& what, bool is_step);
  /// Records what these do; or what the nodes before `end` do, of which the last one may have thrown.
  void record(prepared_schedule const& all);
  void record(prepared_schedule const& all, std::size_t end, bool has_failed);
  /// The routines of a step that are called without a question. What they do is recorded at the end, once, or when a
  /// routine asks for it.
  class bare_step : step_scope {
  public:
    /// `node` is that which runs.
    bare_step(executor& of, prepared_schedule const& all, std::size_t const& node)
        : step_scope(of), all_(all), node_(node) {
      of.bare_ = this;
    }
    ~bare_step() { of_.bare_ = nullptr; }
    void record_begun() const { of_.record(all_, node_ + 1, false); }
    void finish() const { of_.record(all_); }
    void fail() const { of_.record(all_, node_ + 1, true); }

  private:
    prepared_schedule const& all_;
    std::size_t const& node_;
  };
  /// Records what the routines up to that which runs do.
  void record_begun() const {
    if (bare_ != nullptr) bare_->record_begun();
  }

  /// The value of a reduction, null if there is none; and a new one.
  [[nodiscard]] kept_value* find_value(value_info const& what) const;
  kept_value& keep(std::unique_ptr<kept_value> value);
  /// What holds the value. Throws if there is none.
  [[nodiscard]] void const* value_of(value_info const& what) const;
  /// Where what a routine returns goes to.
  void* result = nullptr;
  /// When a device runs the routine that was called last, if that is traced.
  void ran(std::shared_ptr<device_span> when);
  /// How far a checked routine may reach in the views of a request that it gets for a component.
  [[nodiscard]] reach& limit(request const& asked, int component) const;
  /// Bytes that scratches have in all memories.
  [[nodiscard]] std::size_t scratch_bytes() const;

private:
  struct state;
  class execution;

  book& book_;
  std::unique_ptr<state> own_;
  bare_step const* bare_ = nullptr; // that runs
  bool is_in_step_ = false;
};

} // namespace keel::residency::detail

#if !KEEL_COMPILED
#include <keel/impl/residency/fields_state.hpp> // with executor.ipp, whose bodies want fields whole
#endif
