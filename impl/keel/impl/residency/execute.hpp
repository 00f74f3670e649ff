// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How a step walks a schedule, as data: what an entry needs is made valid, the entry runs, what it wrote is recorded.
/// Bodies of fields_state.hpp.

#include <keel/impl/residency/checked_call.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/pieces.hpp>
#include <keel/impl/residency/programs.hpp>

#include <string>
#include <utility>

namespace keel::residency::detail {

/// The executor of schedules: the only place where the entries of one take effect.
class executor {
public:
  executor(fields_state& f, program& p, component_range range, void const* arguments)
      : fields_(f), program_(p), nodes_(p.what.table.nodes), range_(range), arguments_(arguments),
        is_simple_(f.keeps_ledger_ && !f.poisons_ && !f.checks_ && tool() == nullptr &&
                   !f.ledger_.observer().is_active() && range.begin == 0 && range.end >= f.components()) {
    f.begin_scratch(p);
  }
  ~executor() { fields_.end_scratch(program_); }
  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;

  void run() {
    walk(nodes_, 0, program_.what.table.size, *this);
    fields_.finish_reductions(nullptr);
  }

  void leaf(std::size_t i) {
    program::node_state& state = program_.nodes[i];
    if (is_simple_ && state.is_plain && state.call) [[likely]]
      return plain_routine(i, *state.call);
    if (under_way_ != i) finish(nodes_[i].finishes);
    try {
      fields_.finish_reductions(nodes_[i].about);
      enter(i);
      begin_prefetch(i);
    } catch (...) { // what is in flight while the entry runs has to end all the same
      fields_.ledger_.drop_failed(nodes_[i].about->name);
      finish(under_way_);
      throw;
    }
    finish(nodes_[i].finishes_last);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    finish(nodes_[i].finishes);
    fields_.finish_reductions(nodes_[i].about);
    if (is_choice(nodes_[i].what())) return walk_one(nodes_, i, std::size_t(answer(i)), *this);
    for (int n = rounds(i); n > 0; --n) body();
    if (nodes_[i].what() == entry_kind::analysis && fields_.keeps_ledger_)
      fields_.copy_back_written(written_within(i), range_);
  }

private:
  /// How often the body of a group runs.
  [[nodiscard]] int rounds(std::size_t i) const {
    entry const& group = *nodes_[i].about;
    switch (group.what) {
    case entry_kind::every: return fields_.steps_ % group.count == 0 ? 1 : 0;
    case entry_kind::when: return answer(i);
    case entry_kind::once: return fields_.steps_ <= 1 ? 1 : 0;
    case entry_kind::repeat: return group.count;
    case entry_kind::sequence:
    case entry_kind::analysis: return 1;
    case entry_kind::choose: // one of its entries runs
    case entry_kind::routine:
    case entry_kind::reduce:
    case entry_kind::cycle:
    case entry_kind::rewind:
    case entry_kind::exchange:
    case entry_kind::accumulate:
    case entry_kind::walls:
    case entry_kind::output: return 0; // have no body
    }
    return 0;
  }
  /// What a condition says: whether, or which.
  [[nodiscard]] int answer(std::size_t i) const { return program_.what.actions[i].answer(fields_, arguments_); }
  void enter(std::size_t i) {
    switch (nodes_[i].what()) {
    case entry_kind::routine: return routine(i);
    case entry_kind::walls: return nodes_[i].together != 0 ? routine(i) : void();
    case entry_kind::reduce: {
      routine(i);
      profiling_region const region(tool(), "reduce ", nodes_[i].about->name);
      return fields_.begin_reduction(*nodes_[i].about->makes);
    }
    case entry_kind::exchange:
    case entry_kind::accumulate: {
      bool const only_begins = nodes_[i].only_begins;
      if (under_way_ == i) return finish(only_begins ? no_node : under_way_);
      profiling_region const region(tool(), name_of(how(i)).data(), only_begins ? ", its beginning" : "");
      begin(i);
      return only_begins ? void() : end(i);
    }
    case entry_kind::output:
      fields_.finish_reductions(nullptr);
      fields_.copy_back_for(nodes_[i].about->name, range_);
      return program_.what.actions[i].run(fields_, nullptr, range_, nullptr, arguments_);
    case entry_kind::cycle:
    case entry_kind::rewind:
      for (request const& r : program_.what.table.asked(i)) fields_.rotate(r.variable, rotation_of(nodes_[i].what()));
      return;
    case entry_kind::sequence:
    case entry_kind::analysis:
    case entry_kind::repeat:
    case entry_kind::every:
    case entry_kind::when:
    case entry_kind::choose:
    case entry_kind::once: return; // groups
    }
  }
  // What `routine` does if nothing looks on.
  void plain_routine(std::size_t i, prepared const& call) {
    auto& ledger = fields_.ledger_;
    if (!ledger.is_ready(call)) [[unlikely]]
      fields_.acquire(program_.what.table.asked(i), program_.what.where[i], nodes_[i].about->name, range_);
    ledger.post_call(call);
    try {
      program_.what.actions[i].run(fields_, program_.what.table.requests + nodes_[i].first, range_, nullptr,
                                   arguments_);
    } catch (...) {
      ledger.lose(program_.what.table.asked(i), range_, nodes_[i].about->name);
      ledger.drop_failed(nodes_[i].about->name);
      throw;
    }
  }
  void routine(std::size_t i) {
    action const& a = program_.what.actions[i];
    std::string_view const name = nodes_[i].about->name;
    if (a.prepare != nullptr) a.prepare(fields_, name);
    if (program_.has_pools) fields_.place_scratch(program_.what.table.asked(i), program_.what.where[i]);
    if (fields_.keeps_ledger_) admit(i, name);
    profiling_region const region(tool(), "routine ", name);
    perform(i, name);
  }
  // Makes valid what a routine reads, and records what it writes.
  void admit(std::size_t i, std::string_view name) {
    auto& ledger = fields_.ledger_;
    std::span<request const> const asked = program_.what.table.asked(i);
    memory const m = program_.what.where[i];
    if (range_.end < ledger.components() || range_.begin > 0) {
      ledger.open(m, name);
      if (!ledger.is_ready(asked, m, range_)) fields_.acquire(asked, m, name, range_);
      if (fields_.poisons_) fields_.poison(asked, m, range_);
      return ledger.post_call(asked, m, range_, name);
    }
    std::optional<prepared>& call = program_.nodes[i].call;
    if (!call) {
      ledger.open(m, name);
      call = ledger.prepare(asked, m, name, every_component);
    }
    if (!ledger.is_ready(*call)) [[unlikely]]
      fields_.acquire(asked, m, name, range_);
    if (fields_.poisons_) [[unlikely]]
      fields_.poison(asked, m, range_);
    ledger.post_call(*call);
  }
  // Calls a routine. What it may have written is lost if it throws, because nothing says how far it came.
  void perform(std::size_t i, std::string_view name) {
    request const* const asked = program_.what.table.requests + nodes_[i].first;
    auto& ledger = fields_.ledger_;
    auto const call_for = [&](bounds const* piece, component_range range) {
      auto const run = [&] {
        if (nodes_[i].what() == entry_kind::walls)
          fields_.fill_walls({nodes_ + i, nodes_[i].together}, program_.what.table.asked(i), program_.what.where[i],
                             range);
        else {
          action const& a = program_.what.actions[i];
          (fields_.checks_ && a.run_bounded != nullptr ? a.run_bounded : a.run)(fields_, asked, range, piece,
                                                                                arguments_);
        }
      };
      ledger.observer().run(name, program_.what.where[i], thunk::of(run), fields_.ran_);
    };
    auto const call = [&] {
      try {
        if (nodes_[i].begins == no_node || fields_.checks_) call_for(nullptr, range_);
        else in_pieces(i, nodes_[i].begins, call_for);
      } catch (...) {
        if (fields_.keeps_ledger_) ledger.lose(program_.what.table.asked(i), range_, name);
        throw;
      }
    };
    if (fields_.checks_)
      checked_call(fields_, program_.what.table.asked(i), program_.what.where[i], range_, name, thunk::of(call));
    else call();
  }
  // Calls a routine for the rims, begins the exchange, and calls it for the rest while messages travel.
  void in_pieces(std::size_t i, std::uint32_t exchange, auto const& call_for) {
    component_range const all = range_.of(fields_.components());
    routine_pieces const cut{fields_, program_.what.table.asked(exchange),
                             program_.what.where[i] != program_.what.where[exchange]};
    if (!fields_.routes_.travel_meanwhile(program_.what.where[exchange] != host) || !cut.can_be(all))
      return call_for(nullptr, range_);
    for (int c = all.begin; c < all.end; ++c) {
      box_set const pieces = cut.of(c);
      for (patch const* piece = pieces.begin(); piece != pieces.end() - 1; ++piece) call_for(piece, {c, c + 1});
    }
    finish(nodes_[exchange].finishes);
    {
      profiling_region const region(tool(), "exchange, its beginning", {});
      begin(exchange);
    }
    for (int c = all.begin; c < all.end; ++c) {
      box_set const pieces = cut.of(c);
      call_for(pieces.end() - 1, {c, c + 1});
    }
  }
  void begin_prefetch(std::size_t i) {
    std::span<prefetch const> const runs = program_.prefetches.of(i);
    if (runs.empty() || !fields_.keeps_ledger_) return;
    has_prefetched_ = true;
    fields_.begin_prefetch(runs, program_.prefetches.requests.data(), range_);
  }
  [[nodiscard]] combine how(std::size_t exchange) const {
    return nodes_[exchange].what() == entry_kind::accumulate ? combine::add : combine::replace;
  }
  void begin(std::size_t exchange) {
    fields_.begin_exchange(program_.what.table.asked(exchange), program_.what.where[exchange], range_, how(exchange));
    under_way_ = std::uint32_t(exchange);
  }
  void end(std::size_t exchange) {
    under_way_ = no_node; // also if it fails
    fields_.finish_exchange(program_.what.table.asked(exchange), program_.what.where[exchange], range_, how(exchange));
  }
  void finish(std::uint32_t exchange) {
    if (exchange == no_node) return;
    profiling_region const region(tool(), "exchange, its end", {});
    end(exchange);
  }
  [[nodiscard]] std::vector<request> written_within(std::size_t group) const {
    std::vector<request> list;
    for (std::size_t i = group + 1; i < nodes_[group].end; ++i)
      for (request const& r : program_.what.table.asked(i))
        if (has_place(nodes_[i].what()) && r.writes != region::none) list.push_back(r);
    return list;
  }
  [[nodiscard]] region_listener const* tool() const { return fields_.ledger_.observer().tool(); }

  fields_state& fields_;
  program& program_;
  schedule_node const* nodes_;
  component_range range_;
  void const* arguments_;
  bool is_simple_;
  std::uint32_t under_way_ = no_node; // the exchange that began and has not ended: one at most

public:
  bool has_prefetched_ = false;
};

KEEL_INLINE program const* fields_state::answered(schedule_view const& what) {
  program& p = programs_->of(what);
  if (!p.whole) [[unlikely]] {
    // With one memory none of it changes once the fields are made.
    p.is_closed = keeps_ledger_ && !checks_ && !poisons_ && !has_blocks_ && !ledger_.observer().is_active() &&
                  ledger_.observer().tool() == nullptr;
    p.whole.emplace();
    for (std::size_t i = 0; i < p.what.table.size && p.is_closed; ++i)
      if (calls_routine(p.what.table.nodes[i].what())) {
        auto& call = p.nodes[i].call;
        if (!call)
          call = ledger_.prepare(p.what.table.asked(i), host, p.what.table.nodes[i].about->name, every_component);
        p.is_closed = p.whole->append(*call);
      }
  }
  return p.is_closed && ledger_.is_ready(*p.whole) ? &p : nullptr;
}
KEEL_INLINE void fields_state::record(program const& all) { ledger_.post_call(*all.whole); }
KEEL_INLINE void fields_state::record(program const& all, std::size_t failed) {
  for (std::size_t i = 0; i < failed; ++i)
    if (all.nodes[i].call) ledger_.post_call(*all.nodes[i].call);
  ledger_.lose(all.what.table.asked(failed), every_component, all.what.table.nodes[failed].about->name);
}
KEEL_INLINE void bare_calls::record_begun() const {
  for (std::size_t i = 0; i <= node_; ++i)
    if (all_.nodes[i].call) fields_.ledger_.post_call(*all_.nodes[i].call);
}

KEEL_INLINE void fields_state::execute(schedule_view const& what, component_range range, void const* arguments) {
  executor(*this, programs_->of(what), range, arguments).run();
}

KEEL_INLINE void fields_state::step(schedule_view const& what, void const* arguments) {
  ++steps_;
  any_observer& observer = ledger_.observer();
  observer.begin_step(steps_);
  if (what.notify != nullptr) what.notify(observer);
  step_scope const until_end(*this);
  executor all(*this, programs_->of(what), every_component, arguments);
  all.run();
  planned_steps_ += all.has_prefetched_ ? 1 : 0;
}

} // namespace keel::residency::detail
