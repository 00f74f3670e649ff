// SPDX-License-Identifier: MIT
#include <keel/impl/residency/executor.hpp>
#include <keel/impl/residency/steps/execution.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/residency/files/checkpoint_files.hpp>
#include <keel/policy/error.hpp>

#include <utility>

namespace keel::residency::detail {

KEEL_INLINE executor::executor(fields_state& fields) : book_(fields.book_), own_(new state{fields}) {}
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
