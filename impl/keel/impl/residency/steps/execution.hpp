// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What an executor keeps, and the run of a schedule: the only place where its entries take effect.

#include <keel/impl/residency/checked_call.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/files/save.hpp>
#include <keel/impl/residency/prepared_schedule.hpp>
#include <keel/impl/residency/steps/recordings.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/scratch_memory.hpp>
#include <keel/impl/residency/walls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace keel::residency::detail {

/// What an executor keeps, and works on.
struct executor::state {
  fields_state& fields; ///< what actions get
  arrays& on = fields.arrays_;
  book& in = fields.book_;
  exchanger& by = *fields.exchanger_;
  schedule_cache known{on};
  scratch_memory scratch{on, in};
  wall_filler walls{on};
  checker checks{on, in};
  std::vector<std::unique_ptr<kept_value>> values = {};
  std::shared_ptr<device_span> ran = {};

  /// Whether data are tracked, and nothing observes.
  [[nodiscard]] bool is_unobserved() const {
    return in.keeps_ledger() && !in.checks() && in.observer().tool() == nullptr && !in.observer().is_active();
  }
  [[nodiscard]] bool is_quiet() const { return is_unobserved() && !in.poisons() && !in.settings().watches_steps(); }
  [[nodiscard]] kept_value* find_value(value_info const& what) const {
    for (auto const& value : values)
      if (value->about == &what) return value.get();
    return nullptr;
  }
  /// The ranks begin to combine the parts that a routine returned.
  void begin_reduction(value_info const& what) {
    kept_value& value = *find_value(what); // made by the routine's call
    value.is_under_way = true;
    value.begin(value.held.get());
  }
  /// What is under way ends: the values that an entry reads; all, without one.
  void finish_reductions(entry const* reader) {
    for (auto const& value : values) {
      if (!value->is_under_way || (reader != nullptr && !reader->reads_value(value->about))) continue;
      any_observer& observer = in.observer();
      profiling_region const region(observer.tool(), "reduce, its end ", value->about->name);
      auto const finish = [&] { value->finish(); };
      observer.reduce(value->about->name, thunk::of(finish));
    }
  }
};

/// The run of a schedule: the only place where its entries take effect.
class executor::execution {
public:
  execution(state& all, prepared_schedule& of, component_range range, void const* arguments)
      : all_(all), book_(all.in), ledger_(all.in.ledger()), schedule_(of), nodes_(of.what.table.nodes), range_(range),
        arguments_(arguments), is_whole_(range.begin == 0 && range.end >= all.on.components()),
        is_simple_(is_whole_ && all.is_quiet()) {
    all.scratch.begin(of);
    if (std::exchange(of.scratch_moves, all.scratch.moves()) == all.scratch.moves()) return;
    for (auto& each : of.nodes) each.recorded = nullptr;
  }
  ~execution() { all_.scratch.end(schedule_); }
  execution(execution const&) = delete;
  execution& operator=(execution const&) = delete;

  void run() {
    walk(nodes_, 0, schedule_.what.table.size, *this);
    all_.finish_reductions(nullptr);
  }
  void leaf(std::size_t i) {
    prepared_schedule::node_state& state = schedule_.nodes[i];
    if (is_simple_ && state.is_plain && state.call) [[likely]]
      return plain_routine(i, *state.call), end_recorded(i);
    if (under_way_ != i) finish(nodes_[i].finishes);
    try {
      all_.finish_reductions(nodes_[i].about);
      enter(i);
      begin_prefetch(i);
    } catch (...) { // what is in flight while the entry runs has to end all the same
      ledger_.drop_failed(nodes_[i].about->name);
      finish(under_way_);
      throw;
    }
    finish(nodes_[i].finishes_last);
    end_recorded(i);
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    finish(nodes_[i].finishes);
    all_.finish_reductions(nodes_[i].about);
    if (is_choice(nodes_[i].what())) return walk_one(nodes_, i, std::size_t(decide(i)), *this);
    if (nodes_[i].what() == entry_kind::graph) return graph(i, body);
    for (int n = rounds(i); n > 0; --n) body();
    if (nodes_[i].what() == entry_kind::analysis && book_.keeps_ledger())
      book_.copy_back_written(written_within(i), range_);
  }

private:
  [[nodiscard]] std::span<request const> asked(std::size_t i) const { return schedule_.what.table.asked(i); }
  [[nodiscard]] memory where(std::size_t i) const {
    return nodes_[i].what() == entry_kind::all_reduce ? host : schedule_.what.where[i]; // if it has to do anything
  }
  [[nodiscard]] action const& action_of(std::size_t i) const { return schedule_.what.actions[i]; }
  /// How often the body of a group runs.
  [[nodiscard]] int rounds(std::size_t i) const {
    entry const& group = *nodes_[i].about;
    switch (group.what) {
    case entry_kind::every: return book_.steps() % group.count == 0 ? 1 : 0;
    case entry_kind::when: return decide(i);
    case entry_kind::once: return book_.steps() <= 1 ? 1 : 0;
    case entry_kind::repeat: return group.count;
    case entry_kind::sequence:
    case entry_kind::graph:
    case entry_kind::analysis: return 1;
    default: return 0; // have no body; of a choose one entry runs
    }
  }
  /// What a condition says: whether, or which.
  [[nodiscard]] int decide(std::size_t i) const { return action_of(i).decide(all_.fields, arguments_); }
  void enter(std::size_t i) {
    switch (nodes_[i].what()) {
    case entry_kind::routine: return routine(i);
    case entry_kind::walls: return nodes_[i].together != 0 ? routine(i) : void();
    case entry_kind::reduce: {
      routine(i);
      profiling_region const region(tool(), "reduce ", nodes_[i].about->name);
      return all_.begin_reduction(*nodes_[i].about->makes);
    }
    case entry_kind::exchange:
    case entry_kind::accumulate: {
      bool const only_begins = nodes_[i].only_begins;
      if (under_way_ == i) return finish(only_begins ? no_node : under_way_);
      profiling_region const region(tool(), name_of(how(i)).data(), only_begins ? ", its beginning" : "");
      begin(i, !only_begins);
      return only_begins ? void() : end(i);
    }
    case entry_kind::all_reduce: return combines_values() ? routine(i) : void();
    case entry_kind::output:
      all_.finish_reductions(nullptr);
      book_.copy_back_for(nodes_[i].about->name, range_);
      return action_of(i).run(all_.fields, nullptr, range_, nullptr, arguments_);
    case entry_kind::save: return save(all_.fields, nodes_[i].about->name, asked(i), range_);
    case entry_kind::checkpoint: return written.push_back(i); // when the step is over
    case entry_kind::cycle:
    case entry_kind::rewind:
    case entry_kind::cycle_in_place:
      for (request const& r : asked(i)) book_.rotate(r.variable, rotation_of(nodes_[i].what()));
      return;
    default: return; // groups
    }
  }
  // Whether an all_reduce has something to combine: alike on all ranks.
  [[nodiscard]] bool combines_values() const { return all_.on.has_blocks() || all_.fields.has_other_ranks(); }
  void graph(std::size_t i, auto const& body) {
    memory const m = queue_of_graph(i);
    if (m == memory::none) return body();
    bool const is_cut = schedule_.nodes[i].combines_values && combines_values();
    auto const& known = schedule_.nodes[i + 1].recorded; // ways to ranks whose arrays lie in a device stay as they are
    bool const is_known = known != nullptr && known->exchange_by(&all_.by);
    sending out = is_known ? sending::again : sending::nothing;
    for (std::size_t n = i; n < nodes_[i].end && !is_known; ++n)
      if (is_between_ranks(nodes_[n].what())) out = std::max(out, all_.by.sends(asked(n), how(n)));
    exchanger* const by = out == sending::again ? &all_.by : nullptr;
    if (by != nullptr && !is_cut) return record_together(i, i + 1, nodes_[i].end, m, by);
    record(i, i + 1, nodes_[i].end, m, is_cut || out == sending::once, by);
  }
  // The memory of the device that a graph gives all its work; none if it is not to be recorded.
  [[nodiscard]] memory queue_of_graph(std::size_t i) const {
    if (!is_whole_ || !all_.is_unobserved() || !book_.settings().graphs.value_or(true)) return memory::none;
    memory const m = schedule_.nodes[i].runs_in;
    if (m == memory::none) recordings::tell_of_memories(book_);
    if (m == memory::none || m == host || !ledger_.is_open(m)) return memory::none;
    return all_.on.provider().queue_of(m).can_record() ? m : memory::none;
  }
  // Of the entries of a graph those between two that communicate are recorded together: exchanges with them if `by` is
  // there, as what it sends can be recorded.
  void record(std::size_t graph, std::size_t begin, std::size_t end, memory m, bool is_cut, exchanger* by) {
    for (std::size_t i = begin; i < end;) {
      std::size_t last = i, next = i; // the last of those, and what follows it
      while (next < end && !(is_cut && (is_apart(next, by) || (next != i && nodes_[next].finishes != no_node && !by))))
        last = next, next = nodes_[next].end;
      if (next != i) {
        if (is_cut) finish(nodes_[i].finishes);
        record_together(graph, i, next, m, by);
        if (is_cut) finish(nodes_[last].finishes_last);
      } else {
        next = nodes_[i].end;
        has_body(nodes_[i].what()) ? finish(nodes_[i].finishes) : leaf(i);
        for (int n = rounds(i); n > 0; --n) record(graph, i + 1, next, m, is_cut, by);
      }
      i = next;
    }
  }
  [[nodiscard]] bool is_apart(std::size_t i, exchanger const* by) const {
    for (std::size_t n = i; n < nodes_[i].end; ++n)
      if (nodes_[n].what() == entry_kind::all_reduce ||
          (by == nullptr && (is_between_ranks(nodes_[n].what()) || nodes_[n].begins != no_node)))
        return true;
    return false;
  }
  void record_together(std::size_t graph, std::size_t begin, std::size_t end, memory m, exchanger* by) {
    auto& known = schedule_.nodes[begin].recorded;
    if (known == nullptr || !known->exchange_by(by))
      known = std::make_unique<recordings>(all_.on, book_, by, m, schedule_.what.table, begin, end,
                                           nodes_[graph].about->count == 0);
    auto const body = [&] { walk(nodes_, begin, end, *this), finish(under_way_); };
    rotations turned{*this};
    auto const rotate = [&] { walk(nodes_, begin, end, turned); };
    std::uint32_t const other = std::exchange(under_way_, no_node); // begun before, and finished after
    recorded_by_ = known.get();
    try {
      known->run(action_of(graph).keeps, arguments_, thunk::of(body), thunk::of(rotate));
    } catch (...) {
      ledger_.drop_failed(nodes_[graph].about->name);
      under_way_ = other;
      finish(under_way_);
      throw;
    }
    recorded_by_ = nullptr;
    under_way_ = other;
    std::size_t last = end; // what is final is copied early, unless levels rotate before the end
    while (last > begin && !rotates(nodes_[last - 1].what())) --last;
    for (; last < end; ++last) begin_prefetch(last);
  }
  // What a walk does beside what is launched.
  struct rotations {
    execution& of;
    void leaf(std::size_t i) {
      if (rotates(of.nodes_[i].what()))
        for (request const& r : of.asked(i)) of.ledger_.rotate(r.variable, rotation_of(of.nodes_[i].what()));
    }
    template <class Body>
    void group(std::size_t i, Body const& body) {
      for (int n = of.rounds(i); n > 0; --n) body();
    }
  };
  // The fast path of `routine`, without observers.
  void plain_routine(std::size_t i, prepared const& call) {
    if (!ledger_.is_ready(call)) [[unlikely]]
      book_.acquire(asked(i), where(i), nodes_[i].about->name, range_);
    ledger_.post_call(call);
    try {
      action_of(i).run(all_.fields, asked(i).data(), range_, nullptr, arguments_);
    } catch (...) {
      ledger_.lose(asked(i), range_, nodes_[i].about->name);
      ledger_.drop_failed(nodes_[i].about->name);
      throw;
    }
  }
  void routine(std::size_t i) {
    action const& a = action_of(i);
    std::string_view const name = nodes_[i].about->name;
    if (a.prepare != nullptr) a.prepare(all_.fields, name);
    if (schedule_.has_pools) all_.scratch.place(asked(i), where(i));
    if (book_.keeps_ledger()) admit(i, name);
    profiling_region const region(tool(), "routine ", name);
    perform(i, name);
  }
  // Makes valid what a routine reads, and records what it writes.
  void admit(std::size_t i, std::string_view name) {
    auto const all = asked(i);
    memory const m = where(i);
    if (range_.end < ledger_.components() || range_.begin > 0) {
      ledger_.open(m, name);
      if (!ledger_.is_ready(all, m, range_)) book_.acquire(all, m, name, range_);
      if (book_.poisons()) book_.poison(all, m, range_);
      return ledger_.post_call(all, m, range_, name);
    }
    std::optional<prepared>& call = schedule_.nodes[i].call;
    if (!call) {
      ledger_.open(m, name);
      call = ledger_.prepare(all, m, name, every_component);
    }
    if (!ledger_.is_ready(*call)) [[unlikely]]
      book_.acquire(all, m, name, range_);
    if (book_.poisons()) [[unlikely]]
      book_.poison(all, m, range_);
    ledger_.post_call(*call);
  }
  // Calls a routine. What it may have written is lost if it throws, because nothing says how far it came.
  void perform(std::size_t i, std::string_view name) {
    auto const call_for = [&](bounds const* piece, component_range range) {
      auto const run = [&] {
        if (nodes_[i].what() == entry_kind::walls)
          all_.walls.fill({nodes_ + i, nodes_[i].together}, asked(i), where(i), range);
        else {
          action const& a = action_of(i);
          (book_.checks() && a.run_bounded != nullptr ? a.run_bounded : a.run)(all_.fields, asked(i).data(), range,
                                                                               piece, arguments_);
        }
      };
      ledger_.observer().run(name, where(i), thunk::of(run), all_.ran);
    };
    auto const call = [&] {
      try {
        if (nodes_[i].begins == no_node || book_.checks()) call_for(nullptr, range_);
        else in_pieces(i, nodes_[i].begins, call_for);
      } catch (...) {
        if (book_.keeps_ledger()) ledger_.lose(asked(i), range_, name);
        throw;
      }
    };
    if (book_.checks()) all_.checks.call(asked(i), where(i), range_, name, thunk::of(call));
    else call();
  }
  // Calls a routine for the rims, begins the exchange, and calls it for the rest while messages travel.
  void in_pieces(std::size_t i, std::uint32_t exchange, auto const& call_for) {
    component_range const all = range_.of(all_.on.components());
    routine_pieces const cut{all_.on, asked(exchange), where(i) != where(exchange)};
    if (!all_.by.travel_meanwhile(where(exchange)) || !cut.can_be(all)) return call_for(nullptr, range_);
    for (int c = all.begin; c < all.end; ++c) {
      index_sets const pieces = cut.of(c);
      for (index_set const* piece = pieces.begin(); piece != pieces.end() - 1; ++piece) call_for(piece, {c, c + 1});
    }
    finish(nodes_[exchange].finishes);
    {
      profiling_region const region(tool(), "exchange, its beginning", {});
      begin(exchange, false);
    }
    for (int c = all.begin; c < all.end; ++c) {
      index_sets const pieces = cut.of(c);
      call_for(pieces.end() - 1, {c, c + 1});
    }
  }
  void end_recorded(std::size_t i) {
    if (recorded_by_ != nullptr) recorded_by_->end_entry(asked(i), std::exchange(has_sent_, false));
  }
  void begin_prefetch(std::size_t i) {
    std::span<prefetch const> const runs = schedule_.prefetches.of(i);
    if (runs.empty() || !book_.keeps_ledger() || recorded_by_ != nullptr) return;
    book_.begin_prefetch(runs, schedule_.prefetches.requests.data(), range_);
  }
  [[nodiscard]] combine how(std::size_t exchange) const {
    return nodes_[exchange].what() == entry_kind::accumulate ? combine::add : combine::replace;
  }
  void begin(std::size_t exchange, bool is_whole) {
    has_sent_ = true;
    all_.by.begin(asked(exchange), where(exchange), range_, how(exchange), is_whole);
    under_way_ = std::uint32_t(exchange);
  }
  void end(std::size_t exchange) {
    under_way_ = no_node, has_sent_ = true; // also if it fails
    all_.by.finish(asked(exchange), where(exchange), range_, how(exchange));
  }
  void finish(std::uint32_t exchange) {
    if (exchange == no_node || under_way_ != exchange) return;
    profiling_region const region(tool(), "exchange, its end", {});
    end(exchange);
  }
  [[nodiscard]] std::vector<request> written_within(std::size_t group) const {
    std::vector<request> list;
    for (std::size_t i = group + 1; i < nodes_[group].end; ++i)
      for (request const& r : asked(i))
        if (has_place(nodes_[i].what()) && r.writes != region::none) list.push_back(r);
    return list;
  }
  [[nodiscard]] region_listener const* tool() const { return ledger_.observer().tool(); }

  state& all_;
  book& book_;
  field_ledger& ledger_;
  prepared_schedule& schedule_;
  schedule_node const* nodes_;
  component_range range_;
  void const* arguments_;
  bool is_whole_;                     // all components
  bool is_simple_;                    // and nothing observes
  recordings* recorded_by_ = nullptr; // what runs, or will be
  bool has_sent_ = false;             // since an entry of a graph ended
  std::uint32_t under_way_ = no_node; // the exchange that began and has not ended: one at most

public:
  std::vector<std::size_t> written; ///< the checkpoints that it came to
};

} // namespace keel::residency::detail
