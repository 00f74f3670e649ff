// SPDX-License-Identifier: MIT
#include <keel/impl/residency/book.hpp>
#include <keel/impl/residency/records.hpp>
#include <keel/impl/schedule/prefetch.hpp>
#include <keel/impl/validity/trackings.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <utility>

namespace keel::residency::detail {

KEEL_INLINE book::book(arrays& of, tracking_choice const& how)
    : arrays_(of), ledger_(std::make_unique<field_ledger>(of.provider(), of.memories(), of.components())),
      keeps_ledger_(how.tracks), checks_(how.checks), poisons_(how.checks) {
  if (!how.tracks && of.memories() > 1)
    throw error("residency::off", "nothing would be copied", "the list has a device with memory of its own",
                "Take tracking automatic");
}
KEEL_INLINE book::~book() = default;

KEEL_INLINE void book::add_variable() {
  int const number = ledger_->variables();
  variable_info const& about = *arrays_.variables()[std::size_t(number)].about;
  (void)ledger_->add(about.name, about.levels, arrays_.bytes_of(number, 0), about.group, arrays_.regions_of(number));
  ledger_->set_layers(number, arrays_.layers(number));
  resize_components(number);
  if (about.on.has_none && !about.is_scratch)
    ledger_->set_kept(number, region::walls, arrays_.variables()[std::size_t(number)].own == nullptr);
}
KEEL_INLINE void book::renew(int variable) {
  ledger_->renew(variable, arrays_.bytes_of(variable, 0), arrays_.regions_of(variable), arrays_.layers(variable));
  resize_components(variable);
}
KEEL_INLINE void book::resize_components(int variable) {
  for (int c = 1; c < int(arrays_.shares_of(variable).size()); ++c)
    ledger_->resize(variable, c, arrays_.bytes_of(variable, c));
}

KEEL_INLINE any_observer& book::observer() const { return ledger_->observer(); }
KEEL_INLINE void book::observe_by(std::unique_ptr<any_observer> other) {
  other->listen_to(observer().tool());
  ledger_->observe_by(std::move(other));
}
KEEL_INLINE residency::traffic& book::traffic() const { return ledger_->traffic(); }
KEEL_INLINE void book::name_memories(std::vector<std::string> const& names) {
  ledger_->observer().name_memories(names);
  ledger_->name_memories(names);
}
KEEL_INLINE bool book::is_open(memory m) const { return ledger_->is_open(m); }
KEEL_INLINE void book::open(memory m, std::string_view routine) { ledger_->open(m, routine); }

KEEL_INLINE void book::require_tracked(std::string_view who) const {
  if (!keeps_ledger_)
    throw error("residency", std::string(who) + " cannot be answered", "tracking is off", "Take tracking automatic");
}

KEEL_INLINE bool book::is_valid(int variable, int level, region where, memory m, int component, int layers) const {
  return ledger_->is_valid(variable, level, where, m, component, layers);
}
KEEL_INLINE memory book::memory_with(int variable, int level, region where, int component, int layers) const {
  if (!keeps_ledger_) return host;
  for (int m = arrays_.memories(); m-- > 0;)
    if (ledger_->is_open(memory(m)) && ledger_->is_valid(variable, level, where, memory(m), component, layers))
      return memory(m);
  return memory::none;
}

KEEL_INLINE bool book::has_array(int variable, memory m, region one, int component) const {
  return arrays_.views(variable, m) != nullptr && (!arrays_.variables()[std::size_t(variable)].about->is_scratch ||
                                                   ledger_->is_valid(variable, 0, one, m, component));
}

KEEL_INLINE void book::settle_all(std::string_view who) const {
  arrays_.settle_host();
  if (keeps_ledger_) ledger_->wait_for_copies(who);
  for (int m = 1; m < arrays_.memories(); ++m)
    if (ledger_->is_open(memory(m))) arrays_.provider().wait(memory(m));
}

KEEL_INLINE void book::set(residency::settings const& how) {
  copied_back_ = ledger_->find_all(how.copy_back_vars, how.copy_back_vars_name);
  std::erase_if(copied_back_, [&](int v) { return arrays_.variables()[std::size_t(v)].about->is_scratch; });
  settings_ = how;
}

KEEL_INLINE void book::acquire(std::span<request const> list, memory m, std::string_view routine,
                               component_range range) {
  arrays_.settle_host();
  auto const copy = [&] { ledger_->acquire(list, m, routine, range); };
  report_copies(routine, thunk::of(copy));
}

KEEL_INLINE void book::begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range) {
  for (prefetch const& p : runs) {
    std::span<request const> const part{requests + p.first, p.size};
    if (!ledger_->is_open(p.to)) continue;
    if (p.to != host) {
      acquire(part, p.to, p.reader, range);
      continue;
    }
    arrays_.settle_host();
    auto const copy = [&] { ledger_->begin_to_host(part, p.reader, range); };
    report_copies(p.reader, thunk::of(copy));
  }
}

KEEL_INLINE void book::report_copies(std::string_view routine, thunk copy) {
  if (!settings_.veryverbose || !is_master_) return copy();
  auto const bytes = [&](way w) { return ledger_->traffic().bytes(w); };
  std::uint64_t const to_host = bytes(way::to_host), to_device = bytes(way::to_device);
  copy();
  std::uint64_t const down = bytes(way::to_host) - to_host, up = bytes(way::to_device) - to_device;
  if (down + up != 0)
    policy::say(policy::log_level::details, step_text() + std::string(routine) + " needed " +
                                                policy::counted(std::int64_t(down), "byte") + " on the host, " +
                                                std::to_string(up) + " on a device");
}

KEEL_INLINE void book::poison(std::span<request const> asked, memory m, component_range range) {
  arrays_.settle_host();
  try {
    ledger_->poison(asked, m, range);
    for (request const& r : asked) { // what others left in scratches
      if (!arrays_.variables()[std::size_t(r.variable)].about->is_scratch || r.writes == region::none) continue;
      for (int c = range.begin; c < range.of(arrays_.components()).end; ++c)
        for (region one : single_regions)
          if (!overlap(one, r.writes) && !ledger_->is_valid(r.variable, 0, one, m, c))
            arrays_.provider().poison(r.variable, 0, c, one, m);
    }
  } catch (...) { // some of it may hold poison, also what becomes stale and is valid so far
    ledger_->lose(asked, range);
    throw;
  }
}

KEEL_INLINE void book::rotate(int variable, rotation how) {
  int const levels = ledger_->levels(variable);
  if (poisons() && levels > 1 && how != rotation::in_place) {
    bool const has_none = arrays_.variables()[std::size_t(variable)].about->on.has_none;
    request const freed{variable, how == rotation::cycle ? levels - 1 : 0, region::none,
                        has_none ? region::inside : region::everywhere};
    poison({&freed, 1}, memory::none, {0, arrays_.components()});
  }
  ledger_->rotate(variable, how);
}

KEEL_INLINE std::string book::step_text() const { return "residency: step " + std::to_string(steps_) + ": "; }

KEEL_INLINE void book::copy_back(std::span<request const> list, std::size_t variables, std::string_view why,
                                 component_range range) {
  arrays_.settle_host();
  std::uint64_t const before = ledger_->traffic().bytes(way::to_host);
  ledger_->copy_back(list, why, range);
  if ((settings_.verbose || settings_.veryverbose) && is_master_)
    policy::say(policy::log_level::information,
                step_text() + policy::counted(std::int64_t(ledger_->traffic().bytes(way::to_host) - before), "byte") +
                    " of " + policy::counted(std::int64_t(variables), "variable") + " copied back for " +
                    std::string(why));
}

KEEL_INLINE void book::copy_back_for(std::string_view output, component_range range) {
  if (keeps_ledger_ && settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) {
    std::vector<request> list;
    for (int v : copied_back_)
      for (int l = 0; l < (settings_.copy_back_all_levels ? ledger_->levels(v) : 1); ++l)
        list.push_back({v, l, region::everywhere, region::none});
    copy_back(list, copied_back_.size(), output, range);
  }
  arrays_.settle_host();
}

// The regions that entries of an analysis wrote.
KEEL_INLINE void book::copy_back_written(std::span<request const> written, component_range range) {
  if (!settings_.copy_back_written_in_analysis) return;
  std::vector<request> list; // each level once
  std::size_t variables = 0;
  for (request const& r : written) {
    if (arrays_.variables()[std::size_t(r.variable)].about->is_scratch) continue;
    bool is_new = true;
    request* same = nullptr;
    for (request& one : list) {
      is_new = is_new && one.variable != r.variable;
      if (one.variable == r.variable && one.level == r.level) same = &one;
    }
    variables += is_new ? 1 : 0;
    if (same != nullptr) same->reads = same->reads | r.writes;
    else list.push_back({r.variable, r.level, r.writes, region::none});
  }
  copy_back(list, variables, "analysis", range);
}

KEEL_INLINE void book::require_copied_back(int variable, int level, int which, std::string_view output) const {
  if (!keeps_ledger_ || ledger_->is_valid(variable, level, region::owned, host, which)) return;
  throw error("residency",
              "output " + std::string(output) + " asks for " + std::string(ledger_->name(variable)) + ", level " +
                  std::to_string(level) + (arrays_.components() > 1 ? ", component " + std::to_string(which) : "") +
                  ", which the host does not have",
              "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was never written",
              "Set them, or declare a routine that reads it");
}

KEEL_INLINE std::optional<owner> book::owner_of(std::string const& label, void const* data, std::size_t bytes) const {
  if (std::optional<owner> const found = arrays_.provider().owner_of(data, bytes); found || bytes == 0) return found;
  throw error("residency", "the view '" + label + "' shows no variable of these fields",
              "its " + std::to_string(bytes) + " bytes do not lie in one of their arrays",
              "Take it from v in a routine, or a piece of such a view");
}

KEEL_INLINE void book::require_data(std::optional<owner> const& o, region reads, region writes) {
  if (!o) return;
  arrays_.settle_host();
  if (!keeps_ledger_) return;
  request const one{o->variable, o->level, reads, writes};
  acquire({&one, 1}, o->where, "the caller", {o->component, o->component + 1});
  if (o->where != host) arrays_.provider().wait(o->where);
}

KEEL_INLINE void book::notify_data_modified(std::optional<owner> const& o, region where) {
  if (!o || !keeps_ledger_) return;
  if (!o->is_whole && !ledger_->is_valid(o->variable, o->level, where, o->where, o->component))
    throw error("residency",
                "a piece of " + std::string(ledger_->name(o->variable)) + " was written while the rest of its " +
                    std::string(name_of(where)) + " is not valid there",
                "what it holds beside the piece is stale", "Call require_valid_data before");
  ledger_->notify_data_modified(o->variable, o->level, where, o->where, {o->component, o->component + 1});
}

KEEL_INLINE void book::copy_from_past(int variable) {
  if (keeps_ledger_) return ledger_->copy_from_past(variable);
  for (int c = 0; c < arrays_.components(); ++c) (void)arrays_.provider().copy_from_past(variable, c, host);
}

} // namespace keel::residency::detail
