// SPDX-License-Identifier: MIT
#include <keel/impl/residency/executor.hpp>
#include <keel/impl/residency/checked_call.hpp>
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/impl/residency/exchanger.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/residency/prepared_schedule.hpp>
#include <keel/impl/residency/files/save.hpp>
#include <keel/impl/residency/scratch_memory.hpp>
#include <keel/impl/residency/walls.hpp>
#include <keel/policy/error.hpp>

#include <optional>
#include <utility>

namespace keel::residency::detail {

/// What an executor keeps, and works on.
struct executor::state {
  fields_state& fields; ///< what actions get
  arrays& on;
  book& in;
  exchanger& by;
  schedule_cache known{on};
  scratch_memory scratch{on, in};
  wall_filler walls{on};
  checker checks{on, in};
  std::vector<std::unique_ptr<kept_value>> values = {};
  std::shared_ptr<device_span> ran = {};

  /// Whether data are tracked, and nothing observes.
  [[nodiscard]] bool is_quiet() const {
    return in.keeps_ledger() && !in.poisons() && !in.checks() && in.observer().tool() == nullptr &&
           !in.observer().is_active() && !in.settings().watches_steps();
  }
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
        arguments_(arguments), is_simple_(all.is_quiet() && range.begin == 0 && range.end >= all.on.components()) {
    all.scratch.begin(of);
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
      return plain_routine(i, *state.call);
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
  }
  template <class Body>
  void group(std::size_t i, Body const& body) {
    finish(nodes_[i].finishes);
    all_.finish_reductions(nodes_[i].about);
    if (is_choice(nodes_[i].what())) return walk_one(nodes_, i, std::size_t(decide(i)), *this);
    for (int n = rounds(i); n > 0; --n) body();
    if (nodes_[i].what() == entry_kind::analysis && book_.keeps_ledger())
      book_.copy_back_written(written_within(i), range_);
  }

private:
  [[nodiscard]] std::span<request const> asked(std::size_t i) const { return schedule_.what.table.asked(i); }
  [[nodiscard]] memory where(std::size_t i) const { return schedule_.what.where[i]; }
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
    case entry_kind::analysis: return 1;
    case entry_kind::choose: // one of its entries runs
    case entry_kind::routine:
    case entry_kind::reduce:
    case entry_kind::cycle:
    case entry_kind::rewind:
    case entry_kind::cycle_in_place:
    case entry_kind::exchange:
    case entry_kind::accumulate:
    case entry_kind::walls:
    case entry_kind::output:
    case entry_kind::save:
    case entry_kind::checkpoint: return 0; // have no body
    }
    return 0;
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
      begin(i);
      return only_begins ? void() : end(i);
    }
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
    case entry_kind::sequence:
    case entry_kind::analysis:
    case entry_kind::repeat:
    case entry_kind::every:
    case entry_kind::when:
    case entry_kind::choose:
    case entry_kind::once: return; // groups
    }
  }
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
      begin(exchange);
    }
    for (int c = all.begin; c < all.end; ++c) {
      index_sets const pieces = cut.of(c);
      call_for(pieces.end() - 1, {c, c + 1});
    }
  }
  void begin_prefetch(std::size_t i) {
    std::span<prefetch const> const runs = schedule_.prefetches.of(i);
    if (runs.empty() || !book_.keeps_ledger()) return;
    has_prefetched_ = true;
    book_.begin_prefetch(runs, schedule_.prefetches.requests.data(), range_);
  }
  [[nodiscard]] combine how(std::size_t exchange) const {
    return nodes_[exchange].what() == entry_kind::accumulate ? combine::add : combine::replace;
  }
  void begin(std::size_t exchange) {
    all_.by.begin(asked(exchange), where(exchange), range_, how(exchange));
    under_way_ = std::uint32_t(exchange);
  }
  void end(std::size_t exchange) {
    under_way_ = no_node; // also if it fails
    all_.by.finish(asked(exchange), where(exchange), range_, how(exchange));
  }
  void finish(std::uint32_t exchange) {
    if (exchange == no_node) return;
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
  bool is_simple_;
  std::uint32_t under_way_ = no_node; // the exchange that began and has not ended: one at most

public:
  bool has_prefetched_ = false;
  std::vector<std::size_t> written; ///< the checkpoints that it came to
};

KEEL_INLINE executor::executor(fields_state& fields, arrays& on, book& in, exchanger& by)
    : book_(in), own_(new state{fields, on, in, by}) {}
KEEL_INLINE executor::~executor() = default;

KEEL_INLINE void executor::forget() {
  own_->walls.forget();
  own_->known.clear();
  own_->scratch.forget();
}

// A step runs a plan of its schedule: copies that begin early and exchanges in flight rely on it.
KEEL_INLINE void executor::require_idle(std::string_view who) const {
  if (is_in_step_)
    throw error("residency", std::string(who) + " was called inside a step", "the running schedule does not contain it",
                "Add it to the schedule, or call it after step() returns");
}

KEEL_INLINE void executor::execute(schedule_view const& what, component_range range, void const* arguments) {
  execution all(*own_, own_->known.of(what), range, arguments);
  all.run();
  if (!all.written.empty()) own_->fields.checkpoints_->write(what.table, all.written);
}

KEEL_INLINE std::vector<schedule_nodes> executor::steps() const { return own_->known.steps(); }

KEEL_INLINE void executor::step(schedule_view const& what, void const* arguments) {
  own_->fields.checkpoints_->begin_steps({&what.table, 1});
  step_scope const until_end(*this);
  any_observer& observer = book_.observer();
  observer.begin_step(book_.steps());
  if (what.notify != nullptr) what.notify(observer);
  prepared_schedule& known = own_->known.of(what);
  own_->known.note_step(known, what.table);
  execution all(*own_, known, every_component, arguments);
  all.run();
  own_->fields.checkpoints_->end_step(what.table, all.written);
  planned_steps_ += all.has_prefetched_ ? 1 : 0;
}
KEEL_INLINE executor::step_scope::step_scope(executor& of) : of_(of) {
  of.book_.set_steps(of.book_.steps() + 1);
  of.is_in_step_ = true;
}

KEEL_INLINE prepared_schedule const* executor::answered(schedule_view const& what, bool is_step) {
  prepared_schedule& p = own_->known.of(what);
  if (is_step) own_->known.note_step(p, what.table);
  field_ledger& ledger = book_.ledger();
  if (!p.whole) [[unlikely]] {
    // With one memory none of it changes once the fields are made.
    prepared whole;
    bool is_closed = own_->is_quiet() && !own_->on.has_blocks();
    for (std::size_t i = 0; i < p.what.table.size && is_closed; ++i)
      if (calls_routine(p.what.table.nodes[i].what())) {
        auto& call = p.nodes[i].call;
        if (!call)
          call = ledger.prepare(p.what.table.asked(i), host, p.what.table.nodes[i].about->name, every_component);
        is_closed = whole.append(*call);
      }
    p.whole = std::move(whole), p.is_closed = is_closed; // when all of it is there
  }
  return p.is_closed && ledger.is_ready(*p.whole) ? &p : nullptr;
}
KEEL_INLINE void executor::record(prepared_schedule const& all) { book_.ledger().post_call(*all.whole); }
KEEL_INLINE void executor::record(prepared_schedule const& all, std::size_t end, bool has_failed) {
  for (std::size_t i = 0; i < end - (has_failed ? 1 : 0); ++i)
    if (all.nodes[i].call) book_.ledger().post_call(*all.nodes[i].call);
  if (has_failed)
    book_.ledger().lose(all.what.table.asked(end - 1), every_component, all.what.table.nodes[end - 1].about->name);
}

KEEL_INLINE kept_value* executor::find_value(value_info const& what) const { return own_->find_value(what); }
KEEL_INLINE kept_value& executor::keep(std::unique_ptr<kept_value> value) {
  return *own_->values.emplace_back(std::move(value));
}
KEEL_INLINE void const* executor::value_of(value_info const& what) const {
  kept_value* const value = find_value(what);
  if (value != nullptr) value->finish();
  if (value == nullptr || !value->is_there)
    throw error("residency", "reduction " + std::string(what.name) + " has no value",
                "no step or run has made it, or " + std::string(what.routine) + " failed", "Run it before it is read");
  return value->held.get();
}
KEEL_INLINE void executor::ran(std::shared_ptr<device_span> when) { own_->ran = std::move(when); }
KEEL_INLINE reach& executor::limit(request const& asked, int component) const {
  return own_->checks.limit(asked, component);
}
KEEL_INLINE std::size_t executor::scratch_bytes() const { return own_->scratch.bytes(); }

KEEL_INLINE int chosen_of(std::int64_t number, std::size_t entries, std::string const& condition) {
  if (number < 0 || number >= std::int64_t(entries))
    throw error("residency::choose", "there is no entry " + std::to_string(number),
                condition + " chose it, and the entries are 0 to " + std::to_string(entries - 1),
                "Return the number of one of them");
  return int(number);
}

} // namespace keel::residency::detail
