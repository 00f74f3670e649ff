// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// How fields have copies made: for a routine, early, for output that declares nothing, and for views that users keep.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keel::residency::detail {

// Work on the host's memory that may go on behind its caller is done when this returns.
template <class App>
void fields_base<App>::settle_host() const {
  instances_.for_each_open([]<class Tag>(Tag, auto const& queue) {
    if constexpr (is_on_host<Tag>) queue.fence();
  });
}

// Brings what a routine needs, or begins to.
template <class App>
void fields_base<App>::acquire(std::span<request const> list, memory m, std::string_view routine,
                               component_range range) {
  settle_host();
  report_copies(routine, [&] { ledger_.acquire(list, m, routine, range); });
}

template <class App>
void fields_base<App>::begin_prefetch(std::span<prefetch const> runs, request const* requests, component_range range) {
  for (prefetch const& p : runs) {
    std::span<request const> const part{requests + p.first, p.size};
    if (!ledger_.is_open(p.to)) continue;
    settle_host();
    report_copies(p.reader, [&] {
      if (p.to == host) ledger_.begin_to_host(part, p.reader, range);
      else ledger_.acquire(part, p.to, p.reader, range);
    });
  }
}

// Does what may copy, and says so where the user wants to know.
template <class App>
template <class F>
void fields_base<App>::report_copies(std::string_view routine, F&& copy) {
  if (!settings_.veryverbose || own_.rank() != 0) return copy();
  std::uint64_t const to_host = ledger_.traffic().bytes(way::to_host),
                      to_device = ledger_.traffic().bytes(way::to_device);
  copy();
  std::uint64_t const down = ledger_.traffic().bytes(way::to_host) - to_host,
                      up = ledger_.traffic().bytes(way::to_device) - to_device;
  if (down + up != 0)
    policy::say(policy::log_level::details, "residency: step " + std::to_string(steps_) + ": " + std::string(routine) +
                                                " needed " + std::to_string(down) + " bytes on the host, " +
                                                std::to_string(up) + " on a device");
}

template <class App>
void fields_base<App>::set(residency::settings const& how) {
  copied_back_ = ledger_.find_all(how.copy_back_vars, how.copy_back_vars_name);
  settings_ = how;
}

template <class App>
void fields_base<App>::copy_back(std::span<int const> variables, std::string_view why, component_range range) {
  settle_host();
  std::uint64_t const before = ledger_.traffic().bytes(way::to_host);
  ledger_.copy_back(variables, settings_.copy_back_all_levels, why, range);
  if ((settings_.verbose || settings_.veryverbose) && own_.rank() == 0)
    policy::say(policy::log_level::information,
                "residency: step " + std::to_string(steps_) + ": " +
                    std::to_string(ledger_.traffic().bytes(way::to_host) - before) + " bytes of " +
                    std::to_string(variables.size()) + " variables copied back for " + std::string(why));
}

template <class App>
void fields_base<App>::copy_back_for(std::string_view output, component_range range) {
  if constexpr (keeps_ledger)
    if (settings_.copy_back_every && steps_ % *settings_.copy_back_every == 0) copy_back(copied_back_, output, range);
  settle_host();
}

// What the routines of an analysis wrote.
template <class App>
void fields_base<App>::copy_back_written(std::span<request const> asked, component_range range) {
  if (!settings_.copy_back_written_in_analysis) return;
  std::vector<int> variables;
  for (request const& r : asked)
    if (r.writes != region::none && std::find(variables.begin(), variables.end(), r.variable) == variables.end())
      variables.push_back(r.variable);
  copy_back(variables, "analysis", range);
}

// The owned part has to be there. Ghosts are there where they were filled.
template <class App>
void fields_base<App>::require_copied_back(int variable, int level, int which, std::string_view output) const {
  if (!keeps_ledger || ledger_.is_valid(variable, level, region::owned, host, which)) return;
  throw error("residency",
              "output " + std::string(output) + " asks for " + std::string(ledger_.name(variable)) + ", level " +
                  std::to_string(level) + (components() > 1 ? ", component " + std::to_string(which) : "") +
                  ", which the host does not have",
              "copy-back-every, copy-back-vars and copy-back-all-levels leave it out, or it was "
              "never written",
              "Set them, or declare a routine that reads it");
}

/// Whose elements a caller's view shows; empty for a view without elements. Throws where a routine runs.
template <class App>
template <class View>
std::optional<owner> fields_base<App>::owner_of(View const& v, std::string_view call) const {
  require_idle(call);
  if (v.size() == 0) return std::nullopt;
  std::size_t const bytes = v.span() * sizeof(typename View::value_type);
  if (std::optional<owner> const found = provider_.owner_of(v.data(), bytes)) return found;
  throw error("residency", "the view '" + v.label() + "' shows no variable of these fields",
              "its " + std::to_string(bytes) + " bytes do not lie in one of their arrays",
              "Take it from v in a routine, or a piece of such a view");
}

// The caller works on the array without a queue of keel's, so all that is queued for it has to be done.
template <class App>
template <class View>
void fields_base<App>::require_data(View const& v, region reads, region writes, std::string_view call) {
  auto const visit = users_.enter(call);
  auto const o = owner_of(v, call);
  if (!o) return;
  settle_host();
  if constexpr (keeps_ledger) {
    request const one{o->variable, o->level, reads, writes & region::everywhere};
    acquire({&one, 1}, o->where, "the caller", {o->component, o->component + 1});
    if (o->where != host) provider_.wait(o->where);
  }
}

template <class App>
template <class View>
void fields_base<App>::notify_data_modified(View const& v, region where) {
  auto const visit = users_.enter("notify_data_modified");
  auto const o = owner_of(v, "notify_data_modified");
  if (!o) return;
  if constexpr (keeps_ledger) {
    if (!o->is_whole && !ledger_.is_valid(o->variable, o->level, where, o->where, o->component))
      throw error("residency",
                  "a piece of " + std::string(ledger_.name(o->variable)) + " was written where the rest of its " +
                      std::string(name_of(where)) + " is not valid",
                  "what it holds beside the piece is stale", "Ask for it by require_valid_data before");
    ledger_.notify_data_modified(o->variable, o->level, where, o->where, {o->component, o->component + 1});
  }
}

} // namespace keel::residency::detail
