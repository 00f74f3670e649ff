// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What fields do to their data around a routine and for their caller: copies, poison, output, views that the caller
/// keeps, exchanges. Bodies of fields_state.hpp.

#include <keel/impl/exchange/halo.hpp>
#include <keel/impl/residency/fields_state.hpp>
#include <keel/impl/schedule/prefetch.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

KEEL_INLINE void fields_state::set(residency::settings const& how) {
  copied_back_ = ledger_.find_all(how.copy_back_vars, how.copy_back_vars_name);
  std::erase_if(copied_back_, [&](int v) { return variables_[std::size_t(v)].about->is_scratch; });
  settings_ = how;
}

KEEL_INLINE void fields_state::acquire(std::span<request const> list, memory m, std::string_view routine,
                                       component_range range) {
  settle_host();
  auto const copy = [&] { ledger_.acquire(list, m, routine, range); };
  report_copies(routine, thunk::of(copy));
}

KEEL_INLINE void fields_state::begin_prefetch(std::span<prefetch const> runs, request const* requests,
                                              component_range range) {
  for (prefetch const& p : runs) {
    std::span<request const> const part{requests + p.first, p.size};
    if (!ledger_.is_open(p.to)) continue;
    if (p.to != host) {
      acquire(part, p.to, p.reader, range);
      continue;
    }
    settle_host();
    auto const copy = [&] { ledger_.begin_to_host(part, p.reader, range); };
    report_copies(p.reader, thunk::of(copy));
  }
}

// Does what may copy, and reports it if the user asked for that.
KEEL_INLINE void fields_state::report_copies(std::string_view routine, thunk copy) {
  if (!settings_.veryverbose || !is_master_) return copy();
  auto const bytes = [&](way w) { return ledger_.traffic().bytes(w); };
  std::uint64_t const to_host = bytes(way::to_host), to_device = bytes(way::to_device);
  copy();
  std::uint64_t const down = bytes(way::to_host) - to_host, up = bytes(way::to_device) - to_device;
  if (down + up != 0)
    policy::say(policy::log_level::details, "residency: step " + std::to_string(steps_) + ": " + std::string(routine) +
                                                " needed " + policy::counted(std::int64_t(down), "byte") +
                                                " on the host, " + std::to_string(up) + " on a device");
}

KEEL_INLINE void fields_state::poison(std::span<request const> asked, memory m, component_range range) {
  settle_host();
  ledger_.poison(asked, m, range);
  poison_scratch(asked, m, range);
}

KEEL_INLINE void fields_state::rotate(int variable, rotation how) {
  int const levels = ledger_.levels(variable);
  if (poisons_ && levels > 1) {
    request const freed{variable, how == rotation::cycle ? levels - 1 : 0, region::none, region::everywhere};
    poison({&freed, 1}, memory::none, {0, components()});
  }
  ledger_.rotate(variable, how);
}

KEEL_INLINE void fields_state::copy_back(std::span<request const> list, std::size_t variables, std::string_view why,
                                         component_range range) {
  settle_host();
  std::uint64_t const before = ledger_.traffic().bytes(way::to_host);
  ledger_.copy_back(list, why, range);
  if ((settings_.verbose || settings_.veryverbose) && is_master_)
    policy::say(policy::log_level::information,
                "residency: step " + std::to_string(steps_) + ": " +
                    policy::counted(std::int64_t(ledger_.traffic().bytes(way::to_host) - before), "byte") + " of " +
                    policy::counted(std::int64_t(variables), "variable") + " copied back for " + std::string(why));
}

KEEL_INLINE void fields_state::copy_back_for(std::string_view output, component_range range) {
  if (keeps_ledger_ && settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) {
    std::vector<request> list;
    for (int v : copied_back_)
      for (int l = 0; l < (settings_.copy_back_all_levels ? ledger_.levels(v) : 1); ++l)
        list.push_back({v, l, region::everywhere, region::none});
    copy_back(list, copied_back_.size(), output, range);
  }
  settle_host();
}

// The regions that entries of an analysis wrote.
KEEL_INLINE void fields_state::copy_back_written(std::span<request const> written, component_range range) {
  if (!settings_.copy_back_written_in_analysis) return;
  std::vector<request> list; // each level once
  std::size_t variables = 0;
  for (request const& r : written) {
    if (variables_[std::size_t(r.variable)].about->is_scratch) continue;
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

KEEL_INLINE void fields_state::require_copied_back(int variable, int level, int which, std::string_view output) const {
  if (!keeps_ledger_ || ledger_.is_valid(variable, level, region::owned, host, which)) return;
  throw error("residency",
              "output " + std::string(output) + " asks for " + std::string(ledger_.name(variable)) + ", level " +
                  std::to_string(level) + (components() > 1 ? ", component " + std::to_string(which) : "") +
                  ", which the host does not have",
              "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was never written",
              "Set them, or declare a routine that reads it");
}

KEEL_INLINE std::optional<owner> fields_state::owner_of(std::string const& label, void const* data, std::size_t bytes,
                                                        std::string_view call) const {
  require_idle(call);
  if (bytes == 0) return std::nullopt;
  if (std::optional<owner> const found = provider_.owner_of(data, bytes)) return found;
  throw error("residency", "the view '" + label + "' shows no variable of these fields",
              "its " + std::to_string(bytes) + " bytes do not lie in one of their arrays",
              "Take it from v in a routine, or a piece of such a view");
}

KEEL_INLINE void fields_state::require_data(std::optional<owner> const& o, region reads, region writes) {
  if (!o) return;
  settle_host();
  if (!keeps_ledger_) return;
  request const one{o->variable, o->level, reads, writes};
  acquire({&one, 1}, o->where, "the caller", {o->component, o->component + 1});
  if (o->where != host) provider_.wait(o->where);
}

KEEL_INLINE void fields_state::notify_data_modified(std::optional<owner> const& o, region where) {
  if (!o || !keeps_ledger_) return;
  if (!o->is_whole && !ledger_.is_valid(o->variable, o->level, where, o->where, o->component))
    throw error("residency",
                "a piece of " + std::string(ledger_.name(o->variable)) + " was written while the rest of its " +
                    std::string(name_of(where)) + " is not valid there",
                "what it holds beside the piece is stale", "Call require_valid_data before");
  ledger_.notify_data_modified(o->variable, o->level, where, o->where, {o->component, o->component + 1});
}

KEEL_INLINE void fields_state::copy_from_past(int variable) {
  if (keeps_ledger_) return ledger_.copy_from_past(variable);
  for (int c = 0; c < components(); ++c) (void)provider_.copy_from_past(variable, c, host);
}

// Calls f(halo, arrays) for all arrays, or for those of one request after another, each by messages of its own. If it
// throws, what the exchange was to fill is lost.
void fields_state::exchange(std::span<request const> asked, memory m, component_range range, combine how,
                            auto const& f) {
  try {
    exchanged_.clear();
    for (request const& r : asked) {
      decomposition const& cut =
          cut_of(variables_[std::size_t(r.variable)].lattice, how == combine::add ? r.read_layers : r.written_layers);
      for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
        exchanged_.push_back({&provider_.shape_of(r.variable, c), provider_.array(r.variable, r.level, c, m), &cut, c});
    }
    std::span<halo_array const> const all(exchanged_);
    std::size_t const count =
        settings_.exchange_together ? all.size() : all.size() / std::max<std::size_t>(asked.size(), 1);
    for (std::size_t first = 0; first < all.size(); first += count) {
      if (halos_.size() * count <= first) halos_.push_back(std::make_unique<halo_exchange>(routes_, exchange_queue_));
      f(*halos_[first / count], all.subspan(first, count));
    }
  } catch (...) {
    if (keeps_ledger_) ledger_.lose(asked, range, name_of(how));
    throw;
  }
}

// Of the arrays of the last exchange.
KEEL_INLINE std::span<sent const> fields_state::sent_in(std::span<request const> asked, component_range range,
                                                        combine how) {
  sent_.clear();
  auto array = exchanged_.begin();
  for (request const& r : asked)
    for (int c = range.begin, end = range.of(components()).end; c < end; ++c)
      sent_.push_back({r.variable, r.level, c, bytes_sent(*array++, how), name_of(how)});
  return sent_;
}

KEEL_INLINE void fields_state::begin_exchange(std::span<request const> asked, memory m, component_range range,
                                              combine how) {
  require_all_blocks(range, name_of(how));
  settle_host();
  if (keeps_ledger_) {
    auto const copy = [&] { ledger_.pre_sync(asked, range); };
    if (m == host && how == combine::replace) report_copies("exchange", thunk::of(copy));
    if (!ledger_.is_ready(asked, m, range)) acquire(asked, m, name_of(how), range);
    if (poisons_) poison(asked, m, range);
    ledger_.post_call(asked, m, range, name_of(how));
  }
  any_observer& observer = ledger_.observer();
  observer.before_exchange();
  exchange(asked, m, range, how, [&](halo_exchange& by, auto arrays) { by.start(arrays, how); });
  if (observer.is_active()) observer.after_exchange(sent_in(asked, range, how), false);
  routes_.for_each_new([&](int rank, std::string_view transport, std::string const& why, bool again) {
    policy::log(again ? policy::log_level::warning : policy::log_level::information, sentence_of(rank, transport, why));
    observer.knob("exchange_through", "rank " + std::to_string(rank) + ": " + std::string(transport), why);
  });
}

KEEL_INLINE void fields_state::finish_exchange(std::span<request const> asked, memory m, component_range range,
                                               combine how) {
  any_observer& observer = ledger_.observer();
  observer.before_exchange();
  exchange(asked, m, range, how, [&](halo_exchange& by, auto arrays) { by.finish(arrays, observer); });
  auto const all = sent_in(asked, range, how);
  region const left = how == combine::add ? region::halo : region::rim;
  for (sent const& s : all) ledger_.traffic().add_bytes(s.variable, way::to_neighbours, left, {0, s.bytes, s.bytes});
  observer.after_exchange(all, true);
}

} // namespace keel::residency::detail
